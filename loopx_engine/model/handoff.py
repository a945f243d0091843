"""Handoff: the offer of a todo from one actor to another (or to anyone, `to` empty)."""

from __future__ import annotations

from typing import ClassVar

from loopx_engine.model.record import noun


@noun
class Handoff:
    KIND: ClassVar[str] = "handoff"
    id: str
    goal: str
    todo: str
    giver: str
    to: str = ""
    note: str
    evidence: tuple[str, ...] = ()
    state: str = "offered"
    created_at: int
    expires: int
