"""Criterion: one acceptance condition of a goal. The engine's check, or a person, meets it; nothing else does."""

from __future__ import annotations

from typing import ClassVar

from loopx_engine.model.record import noun


@noun
class Criterion:
    KIND: ClassVar[str] = "criterion"
    id: str
    goal: str
    number: int
    text: str
    check: str | None = None
    state: str = "open"
    evidence: str | None = None
    failed_tree: str = ""
    reason: str = ""
