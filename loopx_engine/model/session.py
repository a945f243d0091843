"""Session: a runtime's own conversation, resumable, one writer at a time."""

from __future__ import annotations

from typing import ClassVar

from loopx_engine.model.record import noun


@noun
class Session:
    KIND: ClassVar[str] = "session"
    id: str
    runtime: str
    runtime_session: str = ""
    actor: str
    goal: str
    last_turn: str = ""
