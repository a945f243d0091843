"""What people read: LOOK.md's language on a terminal. Accent is you, blue runs, green is proved, red is broken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from loopx_engine.cli.when import age, clock_text
from loopx_engine.host.sanitiser import visible

WIDTH = 80
STYLES = {
    "accent": "color(215)", "run": "color(75)", "good": "color(114)", "bad": "color(210)", "soft": "color(249)",
    "faint": "color(245)", "bold": "bold", "text": "",
}  # fmt: skip
RISK = {"high": ("HIGH", "bad"), "medium": ("MED", "accent"), "low": ("LOW", "soft")}
GLYPH = {"done": "✓", "open": "◦", "waiting": "◦", "proving": "▸", "dropped": "✗", "met": "✓", "waived": "✗", "stale": "◦"}


def console() -> Console:
    """The terminal, or plain text where there is none; 80 columns unless the terminal says otherwise."""
    found = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    return found if found.is_terminal else Console(highlight=False, soft_wrap=True, markup=False, emoji=False, width=WIDTH)


def print_read(name: str, answer: dict[str, Any]) -> None:
    """Prints one read for people."""
    out = console()
    for line in PRINTERS[name](answer, min(out.width, 120)):
        out.print(line)


def row(width: int, *parts: tuple[str, int, str], right: str = "") -> Text:
    """One aligned line: (text, cells, style) each cut to its cells, and what stands at the right edge."""
    line = Text()
    for text, cells, style in parts:
        piece = Text(visible(text), style=STYLES[style])
        piece.truncate(cells, overflow="ellipsis", pad=True)
        line.append_text(piece)
    if right:
        room = width - line.cell_len - len(right)
        line.append(" " * max(1, room))
        line.append(visible(right), style=STYLES["faint"])
    line.rstrip()
    return line


def status_lines(answer: dict[str, Any], width: int) -> Iterable[Text]:
    """LOOK.md's `loopx status`."""
    now = answer["now"]
    look = f"next look {clock_text(answer['next_look'])}" if answer["next_look"] and answer["next_look"] > now else "looking now"
    live = "live" if answer.get("engine") else "no engine"
    state = f"{live} · {len(answer['running'])} running" + (f" · {look}" if answer["next_look"] else "")
    yield row(width, (answer.get("project") or "loopx", width - len(state) - 1, "bold"), right=state)
    label = "needs you"
    free = max(20, width - 46)
    for item in answer["needs_you"]:
        risk, style = RISK[item["risk"]]
        yield row(
            width,
            (label, 11, "faint"),
            (risk, 6, style),
            (item["id"], 6, "faint"),
            (item["question"], free, "text"),
            (f"  {item['asked_by']}", 14, "soft"),
            right=age(item["age_ms"]),
        )
        label = ""
    if answer["needs_you_count"] > len(answer["needs_you"]):
        yield row(width, ("", 11, "faint"), (f"and {answer['needs_you_count'] - len(answer['needs_you'])} more: loopx inbox", 60, "soft"))
    label = "running"
    for item in answer["running"]:
        yield _goal_row(label, item, width, f"{item['actor']}", item["title_todo"], _minutes(item["for_ms"]), "run")
        label = ""
    label = "waiting"
    for item in answer["active"]:
        yield _goal_row(label, item, width, "", "", "", "soft")
        label = ""
    label = "broken"
    for item in answer["broken"]:
        choices = len(item["choices"])
        text = f"{item['happened']} · {choices} safe choice{'s' if choices != 1 else ''}"
        yield row(width, (label, 11, "faint"), (item["subject"], 6, "bad"), (text, width - 24, "text"), right=age(now - item["since"]))
        label = ""
    yield from _hints(answer, width)


def _goal_row(label: str, item: dict[str, Any], width: int, actor: str, doing: str, right: str, style: str) -> Text:
    return row(
        width,
        (label, 11, "faint"),
        (item["goal"], 6, "faint"),
        (item["title"], 19, style),
        (f" {item['done']}/{item['todos']}", 7, "text"),
        (actor, 10, "soft"),
        (doing, max(10, width - 61), "text"),
        right=right,
    )


def _hints(answer: dict[str, Any], width: int) -> Iterable[Text]:
    if not answer["needs_you"] and not answer["running"] and not answer["active"] and not answer["broken"]:
        counts = answer["counts"]
        if not any(counts.values()):
            yield Text("nothing here yet: loopx goal add TITLE", style=STYLES["soft"])
        else:
            drafts = counts.get("goal.draft", 0)
            yield Text(
                f"nothing runs · {counts.get('goal.done', 0)} done · {drafts} draft"
                + (" (loopx goal resume GOAL)" if drafts else ""),
                style=STYLES["soft"],
            )
        return
    said = []
    for item in answer["needs_you"][:2]:
        if item["risk"] == "high":
            said.append(f"{item['id']} is high: loopx answer {item['id']} asks")
        else:
            said.append(f"answer {item['id']}: loopx answer {item['id']} {item['answers'][0]}")
    if said:
        line = Text("    ".join(said), style=STYLES["accent"])
        line.truncate(width, overflow="ellipsis")
        yield line


def decision_lines(item: dict[str, Any]) -> list[str]:
    """A decision as a person must see it before an answer: who, why, exactly what, the risk, what a no means."""
    risk = RISK[item["risk"]][0]
    lines = [f"{item['id']}  {risk}  {item['state']}", f"wants   {item['question']}", f"who     {item['asked_by']}"]
    if item["why"]:
        lines.append(f"why     {item['why']}")
    for name, value in (item["effect"] or {}).items():
        if name != "protected":
            lines.append(f"does    {name} {value}")
    for command in item["commands"]:
        lines.append(f"does    {command.get('verb')} {command.get('arguments')}")
    lines.extend(f"answer  {name}: {text}" for name, text in item["options"])
    if item["blocks"]:
        lines.append(f"blocks  {', '.join(item['blocks'])}")
    lines.append("if no   that act does not happen; nothing else is refused")
    if item["asked"] > 1:
        lines.append(f"asked   {item['asked']} times")
    lines.append(f"basis   {item['basis']}")
    return lines


def _inbox(answer: dict[str, Any], width: int) -> Iterable[Text]:
    for item in answer["items"]:
        risk, style = RISK[item["risk"]]
        yield row(width, (item["id"], 7, "faint"), (risk, 6, style), (item["question"], width - 30, "text"), right=item["asked_by_name"])
    for item in answer["findings"]:
        yield from _finding(item, width)
    if not answer["items"] and not answer["findings"]:
        yield Text("nothing waits for you", style=STYLES["soft"])


def _finding(item: dict[str, Any], width: int) -> Iterable[Text]:
    yield row(width, (item["subject"], 7, "bad"), (item["happened"], width - 8, "text"))
    for number, choice in enumerate(item["choices"], 1):
        command = "loopx " + " ".join(choice["command"]) if choice["command"] else ""
        yield row(width, ("", 7, "text"), (f"{number}. {choice['text']}", 34, "soft"), (command, width - 42, "accent"))


def _findings(answer: dict[str, Any], width: int) -> Iterable[Text]:
    for item in answer["items"]:
        yield from _finding(item, width)
    if not answer["items"]:
        yield Text("nothing is broken", style=STYLES["soft"])


def _next(answer: dict[str, Any], width: int) -> Iterable[Text]:
    yield row(width, (answer["kind"], 8, "bold"), (answer["text"], width - 9, "text"))
    for action in answer.get("actions", []):
        yield row(width, ("", 8, "text"), (f"loopx {action}", width - 9, "accent"))
    for notice in answer.get("notices", []):
        yield row(width, ("", 8, "text"), (notice, width - 9, "soft"))


def _show(answer: dict[str, Any], width: int) -> Iterable[Text]:
    item, related = answer["item"], answer["related"]
    if answer["kind"] == "decision":
        yield from (Text(visible(line)) for line in decision_lines(item))
        return
    yield row(width, (item.get("title") or item.get("name") or item.get("verb") or item.get("id", ""), width - 12, "bold"), right=item["id"])
    for name, value in item.items():
        if name in ("id", "title", "name") or value in (None, "", [], {}, False):
            continue
        yield row(width, (name.replace("_", " "), 16, "faint"), (_plain(name, value), width - 17, "text"))
    for criterion in related.get("criteria", []):
        yield row(width, (GLYPH.get(criterion["state"], "◦"), 2, "good" if criterion["state"] == "met" else "soft"), (f"{criterion['number']}. {criterion['text']}", width - 14, "text"), right=criterion["state"])
    for todo in related.get("todos", []):
        yield _todo(todo, width)
    for evidence in related.get("evidence", []):
        yield row(width, (evidence["id"], 7, "faint"), (f"{evidence['kind']} {evidence['outcome']} {evidence['ref']}", width - 20, "text"), right=evidence["state"])


def _todo(todo: dict[str, Any], width: int) -> Text:
    style = {"done": "good", "dropped": "faint", "proving": "run"}.get(todo["state"], "text")
    said = todo["proof"] or todo["state"]
    return row(width, (GLYPH[todo["state"]], 2, style), (todo["id"], 7, "faint"), (todo["title"], width - 26, "text"), right=said)


def _list(answer: dict[str, Any], width: int) -> Iterable[Text]:
    for item in answer["items"]:
        if answer["kind"] == "todo":
            yield _todo(item, width)
            continue
        words = item.get("title") or item.get("name") or item.get("question") or item.get("text") or item.get("pattern") or item.get("path") or item.get("ref") or item.get("action") or item.get("root") or " ".join(item.get("argv", []))
        state = item.get("state") or item.get("phase") or ""
        yield row(width, (item["id"], 7, "faint"), (str(words), width - 22, "text"), right=str(state))
    if not answer["items"]:
        yield Text(f"no {answer['kind']} yet", style=STYLES["soft"])


def _history(answer: dict[str, Any], width: int) -> Iterable[Text]:
    for item in answer["items"]:
        subjects = " ".join(dict.fromkeys(change["id"] for change in item["changes"] if change["kind"] != "wake"))
        yield row(width, (item["id"], 8, "faint"), (clock_text(item["at"]), 6, "soft"), (item["verb"], 18, "text"), (subjects, width - 46, "soft"), right=item["actor"] + (f" {item['strength']}" if item["strength"] else ""))
    if not answer["items"]:
        yield Text("no receipts yet", style=STYLES["soft"])


def _why(answer: dict[str, Any], width: int) -> Iterable[Text]:
    for reason in answer["reasons"]:
        yield row(width, (answer["id"], 8, "bold"), (reason, width - 9, "text"))
    if answer["lease"]:
        yield row(width, ("", 8, "text"), (f"held by {answer['lease']['actor']}, epoch {answer['lease']['epoch']}", width - 9, "run"))
    yield from _history({"items": answer["receipts"]}, width)


def _search(answer: dict[str, Any], width: int) -> Iterable[Text]:
    for item in answer["items"]:
        yield row(width, (item["id"], 8, "faint"), (item["text"].replace("\n", " "), width - 18, "text"), right=item["kind"])
    if not answer["items"]:
        yield Text("nothing has these words", style=STYLES["soft"])


def _plain(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items() if item not in (None, "", [], {}))
    if isinstance(value, list):
        return ", ".join(" ".join(map(str, item)) if isinstance(item, list) else str(item) for item in value)
    if isinstance(value, int) and (name.endswith("_at") or name in ("at", "expires", "deadline", "due", "active_since")):
        from datetime import datetime

        return datetime.fromtimestamp(value / 1000).strftime("%Y-%m-%d %H:%M:%S")
    return str(value)


def _minutes(ms: int) -> str:
    return f"{ms // 60000}:{ms // 1000 % 60:02d}"


PRINTERS = {
    "status": status_lines, "inbox": _inbox, "findings": _findings, "next": _next, "show": _show, "list": _list,
    "history": _history, "why": _why, "search": _search,
}  # fmt: skip
