"""Message: one thing said in the thread of a goal (or of the workspace, goal `""`), with its origin always known."""

from __future__ import annotations

from typing import ClassVar, Literal

from loopx_engine.model.record import noun

Origin = Literal["person", "person, unverified", "agent", "engine", "channel"]


@noun
class Message:
    """`to` is an actor id or empty (whoever works next); `correction` preempts (verdict row 8) when its origin is verified.

    `turn` is the turn whose packet handed it over; it is consumed when that turn ends well.
    """

    KIND: ClassVar[str] = "message"
    id: str
    goal: str
    origin: Origin
    author: str
    to: str = ""
    text: str
    correction: bool = False
    acts_on: str = ""
    turn: str = ""
    state: str = "stored"
    created_at: int
