"""What people read: LOOK.md's language on a terminal. Accent is you, blue runs, green is proved, red is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

PRINTERS = {
    "status": "overview:status_lines", "inbox": "lists:inbox_lines", "findings": "lists:findings_lines",
    "next": "lists:next_lines", "show": "detail:show_lines", "list": "lists:list_lines", "history": "lists:history_lines",
    "why": "lists:why_lines", "search": "lists:search_lines",
}  # fmt: skip
WIDEST = 120


def print_read(name: str, answer: dict[str, Any]) -> None:
    """Prints one read for people."""
    import sys

    from rich.text import Text

    from loopx_engine.cli.output import fitting
    from loopx_engine.cli.people.lines import console

    module, _, function = PRINTERS[name].partition(":")
    lines: Callable[[dict[str, Any], int], Iterable[Text]] = getattr(
        import_module(f"loopx_engine.cli.people.{module}"), function
    )
    out = console()
    for line in lines(answer, min(out.width, WIDEST)):
        if fitting("·", sys.stdout.encoding) != "·":
            line.plain = fitting(line.plain, sys.stdout.encoding)
        out.print(line, crop=False)
