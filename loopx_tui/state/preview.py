"""A preview as a person reads it: what comes into being, and what of each thing changes from what to what."""

from __future__ import annotations

from typing import Any

from loopx_tui.state.lines import Line, Span, line

QUIET = frozenset(
    {
        "revision", "generation", "plan", "proof", "token_hash", "rank", "signed", "frontiers", "basis", "active_since",
        "stopped", "created_at",
    }
)  # fmt: skip
MOST = 14
NAMED = ("title", "name", "text", "pattern", "question")


def preview_lines(preview: Any, width: int) -> list[Line]:
    """At most a few lines; the rest is counted."""
    lines: list[Line] = []
    for change in preview.changes:
        if change.kind == "wake":
            continue
        if change.before is None:
            lines.append(_made(change))
        else:
            lines += _changed(change)
    if len(lines) > MOST:
        lines = [*lines[:MOST], line(Span(f"and {len(lines) - MOST} changes more", "faint"))]
    return lines or [line(Span("nothing would change", "soft"))]


def _made(change: Any) -> Line:
    after = change.after or {}
    named = next((str(after[name]) for name in NAMED if after.get(name)), "")
    if change.kind == "grant":
        named = f"{after.get('effect')} {after.get('kind')} {named}, {after.get('uses')} uses"
    if change.kind == "check":
        named = " ".join(map(str, after.get("argv") or ()))
    return line(Span("+ ", "good"), Span(f"{change.kind} ", "soft"), Span(named), right=change.id)


def _changed(change: Any) -> list[Line]:
    lines = []
    for name, after in (change.after or {}).items():
        if name in QUIET:
            continue
        before = (change.before or {}).get(name)
        label = Span(f"{change.kind} {change.id}  {name.replace('_', ' ')}  ", "soft")
        lines.append(line(label, Span(_word(before), "faint"), Span(" becomes ", "faint"), Span(_word(after))))
    return lines


def _word(value: Any) -> str:
    if value in (None, "", [], ()):
        return "nothing"
    if isinstance(value, list | tuple):
        return ", ".join(map(_word, value))
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
