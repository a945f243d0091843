"""Evidence: a result that can be looked at again, with the tree it is about and who stands behind it."""

from __future__ import annotations

from typing import ClassVar, Literal

from loopx_engine.model.record import noun

EvidenceKind = Literal["check", "review", "file", "commit", "url", "note"]
CheckOutcome = Literal["pass", "fail", "cannot run", "noted"]


@noun
class Evidence:
    KIND: ClassVar[str] = "evidence"
    id: str
    goal: str
    todo: str | None = None
    criterion: str | None = None
    turn: str | None = None
    check: str | None = None
    kind: EvidenceKind
    ref: str = ""
    subject: str = ""
    tree: str = ""
    outcome: CheckOutcome = "noted"
    exit: int | None = None
    tail: str = ""
    count: int | None = None
    made_by: str
    verified_by: str = ""
    sandbox: str = ""
    started_at: int | None = None
    at: int
    state: str = "fresh"
    stale_reason: str = ""
