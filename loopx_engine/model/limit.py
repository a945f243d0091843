"""Limit: an agent's runtime or account that cannot run until a time. Its id is the actor's."""

from __future__ import annotations

from typing import ClassVar

from loopx_engine.model.record import noun


@noun
class Limit:
    KIND: ClassVar[str] = "limit"
    id: str
    until: int
    source: str
    probes: int = 0
    state: str = "waiting"
