"""Lease: giving up one's own, and a person taking one from whoever holds it."""

from __future__ import annotations

from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command
from loopx_engine.commands.taking import answer_of, check_epoch, end_turn
from loopx_engine.commands.turn import own_turn
from loopx_engine.errors import Refused
from loopx_engine.model.lease import Lease
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn


@command
class LeaseRelease:
    """Gives up the lease of one's turn; the turn ends as *progress*."""

    turn: str = argument("the turn", id="turn")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        turn = own_turn(draft, context, self.turn)
        check_epoch(draft, turn)
        return answer_of(
            end_turn(draft, turn, "progress", context.now, reason="released", dirty=turn.purpose == "work")
        )


@command
class LeaseTake:
    """Takes a todo's lease away: whatever its holder still writes is refused from here on."""

    todo: str = argument("the todo", id="todo")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        todo = draft.need(Todo, self.todo)
        lease = draft.get(Lease, todo.id)
        turn = draft.get(Turn, lease.turn) if lease and lease.state == "held" else None
        if turn is None or not turn.live:
            raise Refused(f"nobody holds {todo.id}", code="not_held", next=f"loopx show {todo.id}")
        if turn.state == "finishing":
            raise Refused(f"{turn.id} is being proved", code="proving", next=f"loopx show {turn.id}")
        return answer_of(end_turn(draft, turn, "interrupted", context.now, reason="taken by a person", dirty=True))
