"""Needs you: the open decisions, what blocks most first, findings, and what was answered today."""

from __future__ import annotations

from typing import Any

from loopx_tui.state.decision import risk_chip
from loopx_tui.state.filtering import Query, kept
from loopx_tui.state.lines import BLANK, Line, Span, chip, hung, labelled, line, wrapped
from loopx_tui.state.listing import Item, Listing, Section, Whole, document
from loopx_tui.state.when import calm_age, clock, counted

ROOMY = 56
TITLE_SHARE = 0.55


def needs_listing(
    data: dict[str, Any], width: int, now: int, query: Query, pending: frozenset[str], *, two: bool
) -> Listing:
    """The list. `two` gives each row its second line and the space around it; `pending` are answered but not yet settled."""
    decisions = kept(query, data["items"])
    findings = kept(query, [_finding(item) for item in data["findings"]])
    answered = [] if query else data["answered"]
    height = 3 if two else 1

    def row(item: Item, cells: int) -> tuple[Line, ...]:
        return _decision(item, cells, now, item["id"] in pending, two=two)

    def lost(item: Item, cells: int) -> tuple[Line, ...]:
        return _finding_row(item, cells, now, two=two)

    space = (BLANK,) if two else ()
    top = (BLANK,)
    hidden = data["total"] - len(data["items"])
    title = line(
        Span("Needs you", bold=True),
        Span(f"  {data['total']}", "accent", bold=True),
        right="what blocks most first",
    )
    more = (line(Span(f"and {hidden} more, as these are answered", "faint")),) if hidden > 0 else ()
    sections = [Section("decisions", (*top, title, *space), Whole(decisions), height, row, more)]
    if findings:
        head = line(Span("Findings", bold=True), Span(f"  {len(findings)}", "bad", bold=True))
        sections.append(
            Section(name="findings", head=(*space, head, *space), rows=Whole(findings), height=height, paint=lost)
        )
    if answered and two:
        head = line(Span("Answered today", bold=True))
        lines = [
            line(Span(f"{_said(item):<5}", "soft"), Span(_what(item), "soft"), right=clock(item["answered_at"], now))
            for item in answered
        ]
        sections.append(Section(head=(*space, head, BLANK, *lines)))  # fmt: skip
    return Listing(tuple(sections))


def nothing_lines(width: int, engine: bool) -> list[Line]:
    """The empty pane: what would be here, and the key that makes it."""
    return [
        BLANK,
        line(Span("Nothing waits for you", bold=True)),
        BLANK,
        *wrapped(
            "Questions that only a person may answer stand here: an act outside the box, a choice, a plan, a finished goal. "
            "The work goes on without you until one comes.",
            width,
            "soft",
        ),
        BLANK,
        line(_key("N"), Span(" a new goal    ", "soft"), _key("2"), Span(" the goals", "soft")),
        *([] if engine else [BLANK, line(_key("R"), Span(" starts the engine: none is running", "soft"))]),
    ]


def _key(name: str) -> Span:
    return Span(name, "accent", bold=True)


def no_match_lines(text: str) -> list[Line]:
    """The filter left nothing."""
    return [BLANK, line(Span("Nothing here has ", "soft"), Span(text), Span("   esc clears", "faint"))]


def finding_document(item: Item, width: int, now: int) -> Listing:
    """A finding: what happened, what is safe and lost, and its numbered ways out as commands."""
    first, *more = wrapped(item["happened"], max(10, width - 8), bold=True)
    lines: list[Line] = [BLANK, Line(first.left, (chip(_word(item), "bad"),)), *more, BLANK]
    lines.append(labelled("where", item.get("goal_title") or item["goal"], Span(f"  {item['goal']}", "faint")))
    lines += hung("safe", item["safe"], width) if item["safe"] else []
    lines += hung("lost", item["lost"], width, "bad") if item["lost"] else []
    lines.append(labelled("since", Span(calm_age(now - item["since"]), "soft")))
    lines += [BLANK, line(Span("Safe choices", bold=True))]
    for number, choice in enumerate(item["choices"], 1):
        lines.append(line(Span(f"{number}  ", "accent", bold=True), Span(choice["text"])))
        if choice["command"]:
            lines.append(line(Span("   "), Span("loopx " + " ".join(choice["command"]), "accent")))
    return document(lines)


def _decision(item: Item, width: int, now: int, pending: bool, *, two: bool) -> tuple[Line, ...]:
    ago = Span("…", "accent") if pending else Span(calm_age(now - item["created_at"]), "soft")
    question = " ".join(item["question"].split())
    where = item.get("goal_title") or item["goal"]
    if not two:
        title = max(8, round((width - 14) * TITLE_SHARE))
        return (
            line(
                risk_chip(item["risk"]),
                Span("  "),
                Span(question, cells=title),
                Span(" "),
                Span(where, "soft"),
                right=(ago,),
            ),
        )
    waits = [where]
    if item.get("waiting"):
        waits.append(f"{item['asked_by_name']} waits")
    waits += [counted(len(item["options"]), "answer")] if item["options"] else []
    waits += [f"blocks {len(item['blocks'])}"] if item["blocks"] else ([] if item.get("waiting") else ["nothing waits"])
    return (
        line(risk_chip(item["risk"]), Span("  "), Span(question, bold=item["risk"] == "high"), right=(ago,)),
        line(Span("        "), Span(" · ".join(waits), "faint")),
    )


def _finding(item: Item) -> Item:
    return {**item, "id": f"{item.get('kind', 'finding')} {item.get('subject', '?')}"}


def _finding_row(item: Item, width: int, now: int, *, two: bool) -> tuple[Line, ...]:
    ago = Span(calm_age(now - item["since"]), "soft")
    first = line(chip(_word(item), "bad"), Span("  "), Span(item["happened"]), right=(ago,))
    if not two:
        return (first,)
    said = [item.get("goal_title") or item["goal"], item["safe"], f"{counted(len(item['choices']), 'safe choice')}"]
    return first, line(Span("        "), Span(" · ".join(part for part in said if part), "faint"))


def _word(item: Item) -> str:
    return {"lost turn": "LOST", "place broken": "STOP", "uncertain effect": "OPEN"}.get(item["kind"], "WAKE")


def _said(item: Item) -> str:
    return item["answer"] if item["answer"] in ("yes", "no") else "said"


def _what(item: Item) -> str:
    if "poisoned" in item:
        return f"{item['id']}: {item['poisoned']}"
    reason = f"  “{item['reason']}”" if item["reason"] else ""
    return " ".join(item["question"].split()) + reason
