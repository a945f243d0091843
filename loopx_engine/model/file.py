"""File: a deliverable or a touched file of a turn, by path and digest."""

from __future__ import annotations

from typing import ClassVar

from loopx_engine.model.record import noun


@noun
class File:
    KIND: ClassVar[str] = "file"
    id: str
    goal: str
    turn: str
    path: str
    digest: str = ""
    role: str = "touched"
