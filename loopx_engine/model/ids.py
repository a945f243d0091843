"""Typed, short ids (`g-17`, `t-203`): what each prefix means, and the one check every id from outside passes."""

from __future__ import annotations

import re

from loopx_engine.errors import UsageError
from loopx_engine.model.limits import ID_LENGTH

PREFIX = {
    "actor": "a", "project": "p", "place": "pl", "goal": "g", "criterion": "c", "todo": "t", "session": "s", "turn": "u",
    "check": "k", "evidence": "e", "decision": "d", "grant": "gr", "effect": "x", "message": "m", "file": "fl",
    "handoff": "h", "watch": "w", "receipt": "r", "finding": "f",
}  # fmt: skip
KIND = {prefix: kind for kind, prefix in PREFIX.items()}
_ID = re.compile(r"([a-z]{1,2})-([1-9][0-9]{0,17})", re.ASCII)


def kind_of(identifier: str) -> str:
    """The noun an id names. Raises `UsageError` (`bad_id`) for anything that is not a typed id."""
    match = _ID.fullmatch(identifier) if len(identifier) <= ID_LENGTH else None
    if match is None or match[1] not in KIND:
        shown = identifier[:ID_LENGTH].encode("ascii", "backslashreplace").decode()
        raise UsageError(
            f"'{shown}' is not an id; expected one like g-17 or t-203", code="bad_id", next="loopx list goal"
        )
    return KIND[match[1]]


def expect(identifier: str, kind: str) -> str:
    """The id itself, if it names this kind of thing. Raises `UsageError` (`bad_id`)."""
    if kind_of(identifier) != kind:
        raise UsageError(
            f"{identifier} is not a {kind}; expected an id like {PREFIX[kind]}-17",
            code="bad_id",
            next=f"loopx list {kind}",
        )
    return identifier


def number_of(identifier: str) -> int:
    """The number in an id, for ordering: `t-203` -> 203."""
    return int(identifier.rpartition("-")[2])


def make(kind: str, number: int) -> str:
    """The id of the n-th thing of a kind."""
    return f"{PREFIX[kind]}-{number}"
