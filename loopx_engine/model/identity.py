"""Identity: who a command comes from, as the process proved it (a token, a signature, or neither)."""

from __future__ import annotations

from loopx_engine.model.actor import ActorKind, Role
from loopx_engine.model.record import noun


@noun
class Identity:
    """`actor` is an id; `goal` and `turn` bound an agent's reach; `strength` is set once a signature was verified.

    `ended`: the turn of this token is over; it may learn what its own commands came to, and nothing else."""

    kind: ActorKind
    actor: str
    role: Role = ""
    goal: str | None = None
    turn: str | None = None
    strength: str = ""
    ancestor: str = ""
    ended: bool = False

    @property
    def person(self) -> bool:
        return self.kind in ("person", "channel")

    @property
    def verified(self) -> bool:
        """Whether what this identity says is a person's own word (signed), not merely typed under an account."""
        return bool(self.strength)
