"""`loopx status` as LOOK.md draws it: the project, the engine, needs you, running, waiting, broken, and what to type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.text import Text

from loopx_engine.cli.people.lines import ID, LABEL, RISK, count, row
from loopx_engine.desk.when import age, clock_text

TITLE, DONE, ACTOR = 19, 6, 10


def status_lines(answer: dict[str, Any], width: int) -> Iterable[Text]:
    """The block; every line fits the width."""
    yield _head(answer, width)
    yield from _needs_you(answer, width)
    goals = [*answer["running"], *answer["active"]]
    done = max([DONE, *(len(_count(item)) + 1 for item in goals)])
    label = "running"
    for item in answer["running"]:
        yield _goal(label, item, width, done, item["actor"], item["title_todo"], _minutes(item["for_ms"]), "run")
        label = ""
    label = "waiting"
    for item in answer["active"]:
        yield _goal(label, item, width, done, "", "", "", "text")
        label = ""
    if answer["active_count"] > len(answer["active"]):
        more = answer["active_count"] - len(answer["active"])
        yield row(width, ("", LABEL, "faint"), (f"and {more} more: loopx list goal", width - LABEL, "soft"))
    yield from _broken(answer, width)
    yield from _hints(answer, width)


def _head(answer: dict[str, Any], width: int) -> Text:
    said = ["live" if answer["engine"] else "no engine", f"{len(answer['running'])} running"]
    if answer["engine"] and answer["next_look"]:
        said.append(
            f"next look {clock_text(answer['next_look'], answer['now'])}"
            if answer["next_look"] > answer["now"]
            else "looking now"
        )
    name = answer["project"]["name"] if answer["project"] else "loopx"
    return row(width, (name, width, "bold"), right=" · ".join(said), style="soft")


def _needs_you(answer: dict[str, Any], width: int) -> Iterable[Text]:
    label = "needs you"
    asker, free = 9, max(20, width - LABEL - 2 * ID - 9 - 6)
    for item in answer["needs_you"]:
        risk, style = RISK[item["risk"]]
        yield row(
            width,
            (label, LABEL, "faint"),
            (risk, ID - 1, style),
            (" ", 1, "text"),
            (item["id"], ID - 1, "faint"),
            (" ", 1, "text"),
            (item["question"], free - 1, "text"),
            (" ", 1, "text"),
            (item["asked_by"], asker, "soft"),
            right=age(item["age_ms"]),
        )
        label = ""
    if answer["needs_you_count"] > len(answer["needs_you"]):
        more = answer["needs_you_count"] - len(answer["needs_you"])
        yield row(width, ("", LABEL, "faint"), (f"and {more} more: loopx inbox", width - LABEL, "soft"))


def _broken(answer: dict[str, Any], width: int) -> Iterable[Text]:
    label = "broken"
    for item in answer["broken"]:
        text = f"{item['happened']} · {count(len(item['choices']), 'safe choice')}"
        yield row(
            width,
            (label, LABEL, "faint"),
            (item["subject"], ID, "bad"),
            (text, width - LABEL - ID - 6, "text"),
            right=age(answer["now"] - item["since"]),
        )
        label = ""
    if answer["broken_count"] > len(answer["broken"]):
        more = answer["broken_count"] - len(answer["broken"])
        yield row(width, ("", LABEL, "faint"), (f"and {more} more: loopx findings", width - LABEL, "soft"))


def _goal(
    label: str, item: dict[str, Any], width: int, done: int, actor: str, doing: str, right: str, style: str
) -> Text:
    return row(
        width,
        (label, LABEL, "faint"),
        (item["goal"], ID - 1, "faint"),
        (" ", 1, "text"),
        (item["title"], TITLE - 1, style),
        (" ", 1, "text"),
        (_count(item), done - 1, "text"),
        (" ", 1, "text"),
        (actor, ACTOR - 1, "soft"),
        (" ", 1, "text"),
        (doing, max(10, width - LABEL - ID - TITLE - done - ACTOR - 6), "text"),
        right=right,
    )


def _count(item: dict[str, Any]) -> str:
    return f"{item['done']}/{item['todos']}"


def _hints(answer: dict[str, Any], width: int) -> Iterable[Text]:
    said = []
    for item in answer["needs_you"][:2]:
        if item["risk"] == "high":
            said.append(f"{item['id']} is high: loopx answer {item['id']} asks")
        else:
            said.insert(0, f"answer {item['id']}: loopx answer {item['id']} {item['answers'][0]}")
    if not said and answer["broken"]:
        said.append("choices: loopx findings")
    if not answer["engine"] and (answer["active_count"] or answer["running"]):
        said.append("start the engine: loopx-engine run")
    if not said:
        said = _quiet(answer)
    shown = said[0] if said else ""
    for part in said[1:]:
        if len(shown) + 4 + len(part) <= width:
            shown += f"    {part}"
    if shown:
        yield row(width, (shown, width, "accent"))


def _quiet(answer: dict[str, Any]) -> list[str]:
    """What to say where nothing waits and nothing runs."""
    if answer["running"] or answer["active"]:
        return []
    counts = answer["counts"]
    if not any(counts.values()):
        return ["nothing here yet: loopx goal add TITLE"]
    told = [
        f"{counts[name]} {name.partition('.')[2]}"
        for name in ("goal.done", "goal.draft", "goal.paused")
        if counts[name]
    ]
    resume = "    loopx goal resume GOAL" if counts["goal.draft"] or counts["goal.paused"] else ""
    return ["nothing runs · " + " · ".join(told) + resume]


def _minutes(ms: int) -> str:
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes}:{seconds:02d}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"
