"""Turn: one bounded run of one actor. The claim is written before it is proved, so no crash can lose it."""

from __future__ import annotations

from typing import ClassVar, Literal

from loopx_engine.model.record import noun

Purpose = Literal["work", "plan", "replan", "review", "watch"]
RESULTS = ("done", "progress", "blocked", "failed", "refused", "interrupted", "pass", "fail")


@noun
class Turn:
    """`basis` is the goal's revision it started from, `tree` the place's digest at its start, `claim` what `finish` said.

    `tag` marks every process of the turn; `pid`, `pid_started` name its root. Usage is `None` while unknown, never 0.
    `attended` is whether an engine's thread watches it (else it is an agent that came by itself).
    """

    KIND: ClassVar[str] = "turn"
    id: str
    goal: str
    actor: str
    runtime: str = ""
    session: str | None = None
    todo: str | None = None
    place: str | None = None
    purpose: Purpose = "work"
    basis: int
    generation: int
    epoch: int
    state: str = "open"
    result: str = ""
    reason: str = ""
    summary: str = ""
    attended: bool = False
    claim: dict[str, object] | None = None
    claimed_by: str = ""
    mends: int = 0
    tries: int = 0
    tag: str
    token_hash: str
    pid: int | None = None
    pid_started: str = ""
    sandbox: str = ""
    tree: str = ""
    frontier: str = ""
    transcript: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: int | None = None
    begun_at: int
    deadline: int
    ended_at: int | None = None

    @property
    def live(self) -> bool:
        return self.state in ("open", "finishing")
