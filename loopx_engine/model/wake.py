"""Wake: what will make the engine look at a goal again. Its id is the goal's; an active goal always has one."""

from __future__ import annotations

from typing import ClassVar

from loopx_engine.model.record import noun


@noun
class Wake:
    """`due` UTC ms; `pace` is the back-off class; `repeats` counts the same verdict on an unchanged frontier."""

    KIND: ClassVar[str] = "wake"
    id: str
    due: int
    pace: str
    cause: str = ""
    verdict: str = ""
    repeats: int = 0
    generation: int
