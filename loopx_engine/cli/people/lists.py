"""Lists for people: the inbox, findings, a verdict, records of a kind, receipts, and what a search found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.text import Text

from loopx_engine.cli.people.lines import GLYPH, RISK, STYLES, row, words
from loopx_engine.desk.when import age, moment

FIRST_WORDS = (
    "title",
    "name",
    "question",
    "text",
    "pattern",
    "path",
    "ref",
    "action",
    "root",
    "reason",
    "note",
    "runtime",
)


def inbox_lines(answer: dict[str, Any], width: int) -> Iterable[Text]:
    """Decisions, then findings with their choices."""
    for item in answer["items"]:
        if "poisoned" in item:
            yield row(width, (item["id"], 7, "faint"), (f"cannot be shown: {item['poisoned']}", width - 8, "bad"))
            continue
        risk, style = RISK[item["risk"]]
        yield row(
            width,
            (item["id"], 7, "faint"),
            (risk, 6, style),
            (item["question"], width - 30, "text"),
            right=item["asked_by_name"],
        )
    if answer["total"] > len(answer["items"]):
        yield row(width, (f"and {answer['total'] - len(answer['items'])} more: loopx inbox --limit N", width, "soft"))
    for item in answer["findings"]:
        yield from finding(item, width)
    if not answer["items"] and not answer["findings"]:
        yield Text("nothing waits for you", style=STYLES["soft"])
    for first in [item["id"] for item in answer["items"] if "poisoned" not in item][:1]:
        yield row(width, (f"loopx answer {first} shows it and asks", width, "accent"))


def finding(item: dict[str, Any], width: int) -> Iterable[Text]:
    """What happened, what is safe and lost, and the numbered ways out."""
    yield row(width, (item["subject"], 7, "bad"), (item["happened"], width - 8, "text"))
    for label in ("safe", "lost"):
        if item[label]:
            yield row(width, ("", 7, "text"), (label, 6, "faint"), (item[label], width - 13, "soft"))
    for number, choice in enumerate(item["choices"], 1):
        command = "loopx " + " ".join(choice["command"]) if choice["command"] else ""
        yield row(width, ("", 7, "text"), (f"{number}. {choice['text']}", 34, "soft"), (command, width - 42, "accent"))


def findings_lines(answer: dict[str, Any], width: int) -> Iterable[Text]:
    """Every finding."""
    for item in answer["items"]:
        yield from finding(item, width)
    if not answer["items"]:
        yield Text("nothing is broken", style=STYLES["soft"])


def next_lines(answer: dict[str, Any], width: int) -> Iterable[Text]:
    """The verdict: its kind, why, and what may be typed."""
    yield row(width, (answer["kind"], 8, "bold"), (answer["text"], width - 16, "text"), right=answer["goal"])
    for action in answer["actions"]:
        yield row(width, ("", 8, "text"), (f"loopx {action}", width - 9, "accent"))
    for notice in answer["notices"]:
        yield row(width, ("", 8, "text"), (notice, width - 9, "soft"))


def todo_line(todo: dict[str, Any], width: int) -> Text:
    """One todo: its mark, id, title, and how it stands."""
    style = {"done": "good", "dropped": "faint", "proving": "run"}.get(todo["state"], "text")
    said = todo["proof"] or todo["state"]
    return row(
        width,
        (GLYPH.get(todo["state"], "◦"), 2, style),
        (todo["id"], 7, "faint"),
        (todo["title"], width - 26, "text"),
        right=said,
        style=style if todo["state"] == "done" else "faint",
    )


def list_lines(answer: dict[str, Any], width: int) -> Iterable[Text]:
    """Records of a kind, one a line."""
    for item in answer["items"]:
        if answer["kind"] == "todo":
            yield todo_line(item, width)
        elif answer["kind"] == "finding":
            yield from finding(item, width)
        else:
            yield row(
                width,
                (item["id"], 7, "faint"),
                (_first_words(item, answer["names"]), width - 22, "text"),
                right=str(item.get("state") or item.get("phase") or ""),
            )
    if not answer["items"]:
        yield Text(f"no {answer['kind']} yet", style=STYLES["soft"])


def history_lines(answer: dict[str, Any], width: int) -> Iterable[Text]:
    """Receipts: when, what, on what, by whom and how strongly."""
    for item in answer["items"]:
        subjects = " ".join(dict.fromkeys(change["id"] for change in item["changes"] if change["kind"] != "wake"))
        yield row(
            width,
            (item["id"], 8, "faint"),
            (moment(item["at"]), 13, "soft"),
            (item["verb"], 18, "text"),
            (subjects, max(8, width - 64), "soft"),
            right=by(item, answer["names"]),
        )
    if not answer["items"]:
        yield Text("no receipts yet", style=STYLES["soft"])


def by(receipt: dict[str, Any], names: dict[str, str]) -> str:
    """Who, and by what strength it was proved; a person's unsigned word is said to be one."""
    name = names.get(receipt["actor"], receipt["actor"])
    how = receipt["strength"] or ("unverified" if receipt["unverified"] else "")
    return f"{name} · {how}" if how else name


def why_lines(answer: dict[str, Any], width: int) -> Iterable[Text]:
    """The reasons, who holds it, and its last receipts."""
    for reason in answer["reasons"]:
        for number, line in enumerate(words(reason, width, indent=8)):
            yield row(width, (answer["id"], 8, "bold"), (line.plain[8:], width - 8, "text")) if number == 0 else line
    if answer["lease"]:
        holder = answer["names"].get(answer["lease"]["actor"], answer["lease"]["actor"])
        yield row(
            width, ("", 8, "text"), (f"held by {holder} since {moment(answer['lease']['taken_at'])}", width - 9, "run")
        )
    yield from history_lines({"items": answer["receipts"], "names": answer["names"]}, width)


def search_lines(answer: dict[str, Any], width: int) -> Iterable[Text]:
    """What has these words."""
    for item in answer["items"]:
        yield row(
            width, (item["id"], 8, "faint"), (item["text"].replace("\n", " "), width - 18, "text"), right=item["kind"]
        )
    if not answer["items"]:
        yield Text("nothing has these words", style=STYLES["soft"])


def _first_words(item: dict[str, Any], names: dict[str, str]) -> str:
    for name in FIRST_WORDS:
        if item.get(name):
            return str(item[name])
    if item.get("argv"):
        return " ".join(item["argv"])
    if "until" in item:
        return f"{names.get(item.get('actor', ''), item['id'])} until {moment(item['until'])}"
    actor = item.get("actor") or item.get("giver") or ""
    return names.get(actor, actor)


__all__ = ["age", "by", "finding", "history_lines", "todo_line"]
