"""What the first screen says: the key, and what was found on this machine."""

from __future__ import annotations

from os.path import expanduser
from typing import Any

from loopx_tui.state.lines import BLANK, Line, Span, line

MARKS = {"good": "✓  ", "faint": "◦  "}


def first_lines(key: Any, found: list[dict[str, Any]], width: int) -> list[Line]:
    """`key` is the owner's key as it stands (None while the ledger opens)."""
    rows = [*([_key(key)] if key is not None else []), *found]
    lines = [
        line(Span("loopx", "accent", bold=True)),
        BLANK,
        line(Span("Agents work for days. You decide what matters.", "soft")),
        BLANK,
    ]
    for row in rows:
        mark = Span(MARKS[row["mark"]], row["mark"])
        lines.append(line(mark, Span(row["name"], cells=13), Span(row["text"], "soft"), right=row["hint"]))
    if not found:
        lines.append(line(Span("◦  ", "faint"), Span("looking at this machine", "faint")))
    return [*lines, BLANK]


def kept_lines(here: str) -> Line:
    """Where it would work."""
    home = expanduser("~")
    short = "~" + here[len(home) :] if home != "/" and here.startswith(home + "/") else here
    return line(Span("in ", "faint"), Span(short))


def _key(key: Any) -> dict[str, str]:
    if not key.made:
        return {"mark": "faint", "name": "owner key", "text": "made when you first sign something", "hint": ""}
    return {
        "mark": "good",
        "name": "owner key",
        "text": "sealed by a passphrase" if key.sealed else "not sealed",
        "hint": "",
    }
