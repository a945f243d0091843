"""Watch: an outside fact a `watch` todo polls; a change raises its generation."""

from __future__ import annotations

from typing import ClassVar

from loopx_engine.model.record import noun


@noun
class Watch:
    KIND: ClassVar[str] = "watch"
    id: str
    goal: str
    todo: str
    actor: str
    argv: tuple[str, ...] = ()
    glob: str = ""
    every: int
    due: int
    digest: str = ""
    unchanged: int = 0
    generation: int = 0
    state: str = "watching"
    expires: int
