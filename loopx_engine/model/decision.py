"""Decision: a question only a person may answer, bound to the digest of exactly what was shown."""

from __future__ import annotations

from typing import ClassVar, Literal

from loopx_engine.model.record import noun

DecisionKind = Literal["choice", "permission", "effect", "proposal"]
Risk = Literal["low", "medium", "high"]
RISKS: tuple[Risk, ...] = ("low", "medium", "high")


@noun
class Decision:
    """`options` are (id, text) pairs; `effect` is the action asked for; `commands` a proposal's ledger commands.

    `cause` names the frontier an engine's question came from, so that it is asked once; `ask_ref` is the asker's own id.
    `proof` is the signed act that answered it. `asked` counts how often an expired question was asked anew.
    """

    KIND: ClassVar[str] = "decision"
    id: str
    goal: str
    kind: DecisionKind
    question: str
    why: str = ""
    options: tuple[tuple[str, str], ...] = ()
    effect: dict[str, object] | None = None
    commands: tuple[dict[str, object], ...] = ()
    basis: str
    risk: Risk
    rule: str = ""
    blocks: tuple[str, ...] = ()
    asked_by: str
    turn: str | None = None
    ask_ref: str = ""
    cause: str = ""
    asked: int = 1
    state: str = "open"
    answer: str = ""
    answer_text: str = ""
    reason: str = ""
    proof: dict[str, object] | None = None
    outcome: str = ""
    created_at: int
    expires: int
    snoozed_until: int | None = None
    answered_at: int | None = None
