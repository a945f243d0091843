"""Handoff: offering a todo to another agent; accepting moves the lease in the same transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.actor import agents_named
from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, option
from loopx_engine.commands.taking import end_turn
from loopx_engine.commands.turn import own_turn
from loopx_engine.errors import Refused, UsageError
from loopx_engine.model.defaults import GRANT_EXPIRES_MS
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.handoff import Handoff
from loopx_engine.model.limits import BODY_BYTES


@command
class HandoffOffer:
    """Ends the turn and offers its todo, with what was done, what is left and the next step."""

    turn: str = argument("the turn", id="turn")
    note: str = argument("what was done, what is left, the next step", most=BODY_BYTES, unit="bytes")
    to: str = option("the agent it is for (none: anyone)")
    evidence: tuple[str, ...] = option("evidence that helps", default=(), id="evidence")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        turn = own_turn(draft, context, self.turn)
        if not turn.todo:
            raise Refused("this turn has no todo to hand over", code="no_todo", next=f"loopx turn finish {turn.id}")
        to = agents_named(draft, (self.to,))[0] if self.to else ""
        if to == turn.actor:
            raise Refused("a todo is handed to another agent", code="to_yourself", next=f"loopx turn abandon {turn.id}")
        for name in self.evidence:
            if draft.need(Evidence, name).goal != turn.goal:
                raise UsageError(f"{name} belongs to another goal", code="other_goal", next=f"loopx show {turn.goal}")
        made = draft.create(
            Handoff(
                id=draft.new_id("handoff"),
                goal=turn.goal,
                todo=turn.todo,
                giver=turn.actor,
                to=to,
                note=self.note,
                evidence=self.evidence,
                created_at=context.now,
                expires=context.now + GRANT_EXPIRES_MS,
            )
        )
        end_turn(draft, turn, "progress", context.now, reason="handed over", dirty=True)
        return {"handoff": made.id, "todo": turn.todo}


@command
class HandoffAccept:
    """Takes an offered todo: the offer is settled here, the lease follows with `turn begin` of that todo."""

    handoff: str = argument("the handoff", id="handoff")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        from loopx_engine.commands.turn import TurnBegin

        handoff = _offered(draft, context, self.handoff)
        draft.put(replace(handoff, state="accepted"))
        begun = TurnBegin(goal=handoff.goal, todo=handoff.todo).decide(draft, context)
        return {"handoff": handoff.id, **begun}


@command
class HandoffDecline:
    """Declines an offer."""

    handoff: str = argument("the handoff", id="handoff")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        handoff = draft.put(replace(_offered(draft, context, self.handoff), state="declined"))
        return {"handoff": handoff.id, "state": "declined"}


def _offered(draft: Draft, context: Context, identifier: str) -> Handoff:
    handoff = draft.need(Handoff, identifier)
    if handoff.state != "offered" or handoff.expires <= context.now:
        raise Refused(f"{handoff.id} is no longer offered", code="not_offered", next=f"loopx show {handoff.id}")
    if handoff.to not in ("", context.who.actor) or handoff.giver == context.who.actor:
        raise Refused(f"{handoff.id} is for another agent", code="not_yours", next="loopx next")
    return handoff
