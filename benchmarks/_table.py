"""The plain table a benchmark prints: one row a budget, columns aligned, nothing drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

OK, OVER, NOT_RUN = "ok", "over", "not run"


@dataclass(frozen=True, slots=True)
class Row:
    """One budget: what was measured, the aim, and whether it is kept. `bare` and `peer` may be empty."""

    what: str
    here: str
    aim: str
    state: str
    bare: str = ""
    peer: str = ""


def state_of(kept: bool) -> str:
    """`ok` or `over`."""
    return OK if kept else OVER


def lines(rows: Sequence[Row], *, bare: bool = False, peer: str = "") -> list[str]:
    """The table with its head. `bare` adds the column of bare Python, `peer` (its name) the peer's."""
    head = ["what", "here", *(["bare Python"] if bare else []), "aim", "", *([peer] if peer else [])]
    body = [
        [
            row.what,
            row.here,
            *([row.bare or "-"] if bare else []),
            row.aim,
            row.state,
            *([row.peer or "-"] if peer else []),
        ]
        for row in rows
    ]
    widths = [max(len(line[at]) for line in [head, *body]) for at in range(len(head))]
    return [
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
        for line in [head, *body]
    ]


def show(parts: Iterable[str]) -> None:
    """Prints lines as they come."""
    for part in parts:
        print(part, flush=True)


def bytes_of(count: int) -> str:
    """A size as people read it: 812 B, 7.9 KB."""
    return f"{count} B" if count < 1024 else f"{count / 1024:.1f} KB"


def count_of(number: int) -> str:
    """A number with its thousands apart."""
    return f"{number:,}"
