"""A decision as a person must see it before an answer: who wants what, why, exactly what it does, what a no means, the proof."""

from __future__ import annotations

from typing import Any

from loopx_tui.state.difference import Difference, first_lines
from loopx_tui.state.lines import BLANK, Line, Span, chip, hung, labelled, line, wrapped
from loopx_tui.state.when import calm_age, clock

RISKS = {"high": ("HIGH", "bad"), "medium": ("MED", "accent"), "low": ("LOW", "soft")}
MARKS = {"good": "✓ ", "bad": "✗ ", "faint": "◦ "}
SHOWN_DIFFERENCE = 200


def risk_chip(risk: str) -> Span:
    """`HIGH` on its ground; a risk nobody knows is shown as it is, in red."""
    return chip(*RISKS.get(risk, (risk.upper()[:4], "bad")))


def decision_lines(
    answer: dict[str, Any], width: int, now: int, difference: Difference | None, *, tight: bool = False
) -> list[Line]:
    """All of it. `tight` leaves the blank lines out. `difference` is None while it is still read."""
    item = answer["item"]
    gap = [] if tight else [BLANK]
    lines = [*_title(item, width), *gap, *_about(answer, width, now)]
    if item["options"]:
        lines += [*gap, line(Span("Answers", bold=True)), *_options(item, width)]
    if answer["proof"]:
        lines += [*gap, line(Span("Proof", bold=True)), *_proof(answer, now)]
    if _changes(item, difference):
        lines += [*gap, *_change(difference, tight)]
    return lines


def _title(item: dict[str, Any], width: int) -> list[Line]:
    first, *more = wrapped(item["question"], max(10, width - 8), bold=True, most=6)
    return [Line(first.left, (risk_chip(item["risk"]),)), *more]


def _about(answer: dict[str, Any], width: int, now: int) -> list[Line]:
    item, goal = answer["item"], answer["goal"]
    who = [
        Span(answer["asked_by_name"], "text"),
        Span(f" on {goal['title']}", "soft"),
        Span(f"  {goal['id']}", "faint"),
    ]
    lines = [labelled("wants", *who)]
    if answer["because"]:
        lines += hung("because", answer["because"], width)
    for act in answer["acts"]:
        lines += hung("does", act, width, "accent")
    lines += hung("if no", answer["if_no"], width)
    undo = answer["undo"]
    lines += hung("undo", undo["text"], width, "soft" if undo["can"] else "bad")
    lines += hung("asked", _asked(answer, now), width)
    if item["state"] != "open":
        lines += hung("said", f"{item['answer'] or item['state']}  {item['reason'] or item['outcome']}", width)
    if answer.get("signature"):
        lines += hung("signed", answer["signature"], width, "soft" if answer["signature"] == "verified" else "bad")
    return lines


def _asked(answer: dict[str, Any], now: int) -> str:
    item = answer["item"]
    ago = calm_age(now - item["created_at"])
    words = [ago if ago == "now" else f"{ago} ago"]
    if answer["asked"] > 1:
        words.append(f"{answer['asked']} times")
    if answer["waiting"]:
        words.append("its turn waits")
    words.append(f"runs out {clock(item['expires'], now)}")
    return " · ".join(words)


def _options(item: dict[str, Any], width: int) -> list[Line]:
    lines: list[Line] = []
    for number, (_, text) in enumerate(item["options"], 1):
        pieces = wrapped(text, width - 3)
        lines.append(Line((Span(f"{number}  ", "accent", bold=True), *pieces[0].left)))
        lines += [Line((Span("   "), *piece.left)) for piece in pieces[1:]]
    return lines


def _proof(answer: dict[str, Any], now: int) -> list[Line]:
    lines = []
    for proof in answer["proof"]:
        said = [part for part in (proof["receipt"] or proof["evidence"], calm_age(now - proof["at"])) if part]
        said += [] if proof["fresh"] else ["stale"]
        said += ["not sandboxed"] if proof["sandbox"] == "none" else []
        lines.append(
            line(Span(MARKS.get(proof["mark"], "◦ "), proof["mark"]), Span(proof["text"]), right=" · ".join(said))
        )
    return lines


def _changes(item: dict[str, Any], difference: Difference | None) -> bool:
    """Whether the change is shown: where there is one, or where its answer may not be given without having looked."""
    leaves = bool((item["effect"] or {}).get("sha")) or item["risk"] == "high"
    return leaves or (difference is not None and bool(difference.lines))


def _change(difference: Difference | None, tight: bool) -> list[Line]:
    if difference is None:
        return [line(Span("Change", bold=True), Span("  is being read", "faint"))]
    head = line(Span("Change", bold=True), Span("  "), *difference.summary)
    lines = [head, *([] if tight or not difference.lines else [BLANK]), *first_lines(difference, SHOWN_DIFFERENCE)]
    if len(difference.lines) > SHOWN_DIFFERENCE:
        lines.append(
            line(Span(f"and {len(difference.lines) - SHOWN_DIFFERENCE} lines more: ", "faint"), Span("d", "accent"))
        )
    return lines
