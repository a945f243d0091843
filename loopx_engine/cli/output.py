"""What a call prints: one JSON object for scripts, short words for people; errors with the next step on both."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from loopx_engine.errors import LoopxError
from loopx_engine.host.sanitiser import visible

PLAIN = str.maketrans({"✓": "+", "◦": "o", "⬥": "*", "▸": ">", "✗": "x", "·": "-", "…": "~", "—": "-"})


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the call asked for JSON, also when it could not be parsed."""
    return "--json" in arguments


def print_json(name: str, body: dict[str, Any]) -> None:
    """One object, its schema first; everything beyond ASCII escaped, so that no terminal acts on it."""
    import json

    sys.stdout.write(json.dumps({"schema": f"loopx.{name}/1", **body}, ensure_ascii=True) + "\n")


def print_line(text: str = "") -> None:
    """One line of words, sanitised; glyphs as ASCII where the terminal has no others."""
    sys.stdout.write(fitting(visible(text), sys.stdout.encoding) + "\n")


def say(text: str) -> None:
    """One line for the person beside the data: on stderr, sanitised."""
    sys.stderr.write(fitting(visible(text), sys.stderr.encoding) + "\n")


def fitting(text: str, encoding: str | None) -> str:
    """The text as this encoding can show it."""
    return text if text.isascii() or (encoding or "").lower().startswith("utf") else text.translate(PLAIN)


def report_error(error: LoopxError, *, as_json: bool) -> int:
    """Says what happened and what comes next, on stderr or as one object on stdout. Returns the exit code."""
    if as_json:
        body: dict[str, Any] = {"code": error.code, "message": error.message, "next": error.next}
        if error.details:
            body["details"] = error.details
        print_json("error", body)
        return error.exit_code
    for number, line in enumerate(error.message.splitlines() or [""]):
        say(f"loopx: {line}" if number == 0 else f"       {line}")
    if error.details.get("decision"):
        say(f"decision: {error.details['decision']}")
    if error.next:
        say(f"next: {error.next}")
    return error.exit_code


def report_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The last resort (`sys.excepthook`): a bug of ours is said to be one; the process ends with 1."""
    import traceback

    for line in "".join(traceback.format_exception(kind, error, trace)).splitlines():
        say(line)
    from loopx_engine.errors import Fault

    fault = Fault(f"a bug in loopx: {kind.__name__}: {error}", next="report it with the lines on stderr; loopx verify")
    report_error(fault, as_json=wants_json(sys.argv))
