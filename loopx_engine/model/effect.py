"""Effect: one act of the engine outside the ledger, written down before it is tried and never repeated blindly."""

from __future__ import annotations

from typing import ClassVar

from loopx_engine.model.record import noun

EFFECT_KINDS = ("commit", "merge", "push", "command", "post", "write")


@noun
class Effect:
    """`action` is one of `EFFECT_KINDS`, `params` its JSON arguments, `key` makes a repeat recognisable outside."""

    KIND: ClassVar[str] = "effect"
    id: str
    goal: str
    todo: str | None = None
    turn: str | None = None
    decision: str | None = None
    grant: str | None = None
    action: str
    params: dict[str, object]
    digest: str
    key: str
    state: str = "intent"
    detail: str = ""
    value: str = ""
    created_at: int
    attempted_at: int | None = None
    ended_at: int | None = None
