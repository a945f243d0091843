"""`loopx show`: one thing as a person reads it. What is empty is not said, what has a name is called by it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.text import Text

from loopx_engine.cli.people.lines import GLYPH, RISK, row, words
from loopx_engine.cli.people.lists import by, todo_line
from loopx_engine.cli.words import EMPTY, given, label, said
from loopx_engine.desk.when import moment

LABEL = 14
HIDDEN = frozenset(
    {
        "id", "title", "name", "kind", "plan", "generation", "revision", "rank", "frontiers", "frontier", "tag", "basis",
        "proof", "token", "epoch", "tree", "digest", "key", "subject", "identity", "pid", "pid_started", "public_key", "cause",
        "ask_ref", "rule", "signed", "created_by", "added_by", "created_at", "place_kind", "stopped", "stalls", "tries", "mends",
        "attended", "instance", "failed_tree", "claim", "claimed_by",
    }
)  # fmt: skip
LABELS = {
    "budget_turns": "turns at most", "budget_days": "days at most", "budget_tokens": "tokens at most",
    "budget_cost": "cost at most", "agents": "worked by", "reviewers": "reviewed by", "goal": "of goal", "wait": "waits for",
    "check": "check", "input_tokens": "tokens read", "output_tokens": "tokens written", "set_by": "set by",
    "made_by": "made by", "verified_by": "verified by", "asked_by": "asked by", "no_successor": "no successor",
}  # fmt: skip


def show_lines(answer: dict[str, Any], width: int) -> Iterable[Text]:
    """The thing, then what belongs to it."""
    item, names = answer["item"], answer["names"]
    if answer["kind"] == "decision":
        for line in decision_lines(item, names, answer["related"].get("signature")):
            yield from words(line, width, indent=0) if len(line) <= width else _hanging(line, width)
        return
    if answer["kind"] == "receipt":
        yield from _receipt(item, names, width)
        return
    head = item.get("title") or item.get("name") or item.get("text") or item.get("pattern") or answer["kind"]
    yield row(width, (str(head), width, "bold"), right=item["id"])
    for name, value in item.items():
        if name not in HIDDEN and value not in (*EMPTY, False) and value is not item.get("text"):
            yield from _field(LABELS.get(name, label(name)), said(name, value, names), width)
    yield from _related(answer["related"], names, width)


def _field(name: str, text: str, width: int) -> Iterable[Text]:
    lines = words(text, width, indent=LABEL)
    for number, line in enumerate(lines):
        if number == 0:
            yield row(width, (name, LABEL, "faint"), (line.plain[LABEL:], width - LABEL, "text"))
        else:
            yield line


def _hanging(line: str, width: int) -> list[Text]:
    head, text = line[:8], line[8:]
    found = words(text, width, indent=8)
    first = row(width, (head, 8, "text"), (found[0].plain[8:] if found else "", width - 8, "text"))
    return [first, *found[1:]]


def _related(related: dict[str, Any], names: dict[str, str], width: int) -> Iterable[Text]:
    for criterion in related.get("criteria", []):
        style = "good" if criterion["state"] == "met" else "soft"
        text = f"{criterion['number']}. {criterion['text']}"
        yield row(
            width, (GLYPH.get(criterion["state"], "◦"), 2, style), (text, width - 14, "text"), right=criterion["state"]
        )
    for todo in related.get("todos", []):
        yield todo_line(todo, width)
    hidden = related.get("todo_count", 0) - len(related.get("todos", []))
    if hidden > 0:
        yield row(width, (f"and {hidden} more todos: loopx list todo --limit N", width, "soft"))
    for decision in related.get("decisions", []):
        risk, style = RISK[decision["risk"]]
        yield row(
            width,
            ("⬥", 2, "accent"),
            (decision["id"], 7, "faint"),
            (decision["question"], width - 20, "text"),
            right=risk,
            style=style,
        )
    if related.get("check"):
        check = related["check"]
        yield from _field("proved by", f"{' '.join(check['argv'])}  ({check['baseline']} on the base)", width)
    if related.get("lease"):
        lease = related["lease"]
        yield from _field(
            "held by", f"{names.get(lease['actor'], lease['actor'])} since {moment(lease['taken_at'])}", width
        )
    for evidence in related.get("evidence", []):
        text = f"{evidence['kind']} {evidence['outcome']} {evidence['ref']}"
        yield row(width, (evidence["id"], 7, "faint"), (text, width - 20, "text"), right=evidence["state"])
    for turn in related.get("turns", []):
        text = f"turn of {names.get(turn['actor'], turn['actor'])}  {turn['summary'] or turn['reason']}"
        yield row(width, (turn["id"], 7, "faint"), (text, width - 22, "text"), right=turn["result"] or turn["state"])
    if related.get("signature"):
        yield from _field("signature", related["signature"], width)


def decision_lines(item: dict[str, Any], names: dict[str, str], signature: str | None = None) -> list[str]:
    """A decision as a person must see it before an answer: who, why, exactly what, the risk, what a no means."""
    lines = [
        f"{item['id']}  {RISK[item['risk']][0]}  {item['state']}",
        f"wants   {item['question']}",
        f"who     {names.get(item['asked_by'], item['asked_by'])}, for {item['goal']}",
    ]
    if item["why"]:
        lines.append(f"why     {item['why']}")
    lines.extend(f"does    {text}" for text in _acts(item))
    lines.extend(f"answer  {name}: {text}" for name, text in item["options"])
    if item["blocks"]:
        lines.append(f"blocks  {', '.join(item['blocks'])}")
    if item["state"] == "open":
        lines.append("if no   that act does not happen; nothing else is refused")
    if item["asked"] > 1:
        lines.append(f"asked   {item['asked']} times")
    if item["answer"]:
        lines.append(f"said    {item['answer']}" + (f", {item['reason']}" if item["reason"] else ""))
    if signature:
        lines.append(f"signed  {signature}")
    if item["outcome"]:
        lines.append(f"came    {item['outcome']}")
    lines.append(f"basis   {item['basis']}")
    return lines


def _acts(item: dict[str, Any]) -> list[str]:
    return [*given(item["effect"] or {}), *(command_words(command) for command in item["commands"])]


def command_words(command: dict[str, Any]) -> str:
    """One command of a proposal: the verb and what it is given."""
    return "  ".join([str(command.get("verb")), *given(command.get("arguments") or {})])


def _receipt(item: dict[str, Any], names: dict[str, str], width: int) -> Iterable[Text]:
    yield row(width, (item["verb"], width, "bold"), right=item["id"])
    yield from _field("when", moment(item["at"]), width)
    yield from _field("by", by(item, names), width)
    if item["grant"]:
        yield from _field("under", item["grant"], width)
    for change in item["changes"]:
        if change["kind"] == "wake":
            continue
        if change["before"] is None:
            yield from _field("made", f"{change['kind']} {change['id']}", width)
            continue
        for name, after in (change["after"] or {}).items():
            old, new = (said(name, value, names) or "nothing" for value in (change["before"].get(name), after))
            yield from _field(change["id"], f"{label(name)}: {old} -> {new}", width)
    yield from _field("undo", f"loopx undo {item['id']}" if item["undo"] else "cannot be taken back", width)
