"""Evidence an agent adds during its turn: looked at by people and reviewers, proving nothing by itself."""

from __future__ import annotations

from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, hidden, option
from loopx_engine.commands.turn import own_turn
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.limits import BODY_BYTES, PATH_BYTES


@command
class EvidenceAdd:
    """Adds a file, address or note to the turn's todo."""

    turn: str = argument("the turn", id="turn")
    kind: str = argument("what it is", choices=("file", "url", "note"))
    ref: str = argument("a path in the place, an address, or words", most=PATH_BYTES, unit="bytes")
    note: str = option("what it shows", most=BODY_BYTES, unit="bytes")
    subject: str = hidden("the digest of what it refers to", default="")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        turn = own_turn(draft, context, self.turn)
        made = draft.create(
            Evidence(
                id=draft.new_id("evidence"),
                goal=turn.goal,
                todo=turn.todo,
                turn=turn.id,
                kind=self.kind,  # type: ignore[arg-type]
                ref=self.ref,
                tail=self.note[:4096],
                subject=self.subject,
                made_by=turn.actor,
                at=context.now,
            )
        )
        return {"evidence": made.id}
