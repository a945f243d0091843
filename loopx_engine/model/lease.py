"""Lease: the only ownership fact. Its id is the todo's (or the goal's, while somebody plans); epochs only grow."""

from __future__ import annotations

from typing import ClassVar

from loopx_engine.model.record import noun


@noun
class Lease:
    """`state` is `held` or `free`; a held lease whose `expires` (UTC ms) has passed is free as well.

    `expires` is renewed without a receipt: it is the one volatile column of the ledger.
    """

    KIND: ClassVar[str] = "lease"
    id: str
    goal: str
    actor: str
    instance: str = ""
    turn: str
    place: str | None = None
    epoch: int
    state: str = "held"
    expires: int
    taken_at: int

    def live(self, now: int) -> bool:
        return self.state == "held" and self.expires > now
