"""Condition: what a todo waits for, written `kind:argument` (`at:1767225600000`, `done:t-3`, `decided:d-4`, ...)."""

from __future__ import annotations

from typing import Literal

from loopx_engine.errors import UsageError
from loopx_engine.model.ids import expect
from loopx_engine.model.record import noun

ConditionKind = Literal["at", "done", "changed", "decided", "file", "command"]
AT_DIGITS = 16
CONDITION_KINDS: tuple[ConditionKind, ...] = ("at", "done", "changed", "decided", "file", "command")


@noun
class Condition:
    """`argument`: UTC ms for `at`, an id for `done`, `changed`, `decided`, a glob for `file`, a shlex line for `command`."""

    kind: ConditionKind
    argument: str


def parse_condition(text: str) -> Condition:
    """A condition from its one text. Raises `UsageError` (`bad_condition`) and names the six kinds."""
    kind, colon, argument = text.partition(":")
    if not colon or kind not in CONDITION_KINDS or not argument.strip():
        raise UsageError(
            f"'{text[:60]}' is not a condition; expected one of " + ", ".join(f"{k}:..." for k in CONDITION_KINDS),
            code="bad_condition",
            next="loopx todo add --help",
        )
    named = {"done": "todo", "decided": "decision", "changed": "watch"}
    if kind in named:
        expect(argument, named[kind])
    if kind == "at" and not (argument.isascii() and argument.isdigit() and len(argument) <= AT_DIGITS):
        raise UsageError("at: needs UTC milliseconds", code="bad_condition", next="loopx todo add --help")
    return Condition(kind=kind, argument=argument)
