"""What a call prints: one JSON object for scripts, short words for people; errors with the next step on both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from loopx_engine.errors import LoopxError
from loopx_engine.host.sanitiser import visible


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the call asked for JSON, also when it could not be parsed."""
    return "--json" in arguments


def print_json(name: str, body: dict[str, Any]) -> None:
    """One object, its schema first."""
    click.echo(json.dumps({"schema": f"loopx.{name}/1", **body}, ensure_ascii=True))


def print_line(text: str = "") -> None:
    """One line of words, sanitised."""
    click.echo(visible(text))


def report_error(error: LoopxError, *, as_json: bool) -> int:
    """Says what happened and what comes next, on stderr or as one object on stdout. Returns the exit code."""
    if as_json:
        body: dict[str, Any] = {"code": error.code, "message": error.message, "next": error.next}
        if error.details:
            body["details"] = error.details
        print_json("error", body)
        return error.exit_code
    click.echo(f"loopx: {visible(error.message, lines=True)}", err=True)
    if error.details.get("decision"):
        click.echo(f"decision: {visible(str(error.details['decision']))}", err=True)
    if error.next:
        click.echo(f"next: {visible(error.next)}", err=True)
    return error.exit_code
