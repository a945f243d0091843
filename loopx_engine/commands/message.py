"""Message: what is said in a goal's thread. Its origin is what the process proved, never what the text says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.actor import named_actor
from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, option
from loopx_engine.errors import Refused, UsageError
from loopx_engine.model.goal import Goal
from loopx_engine.model.limits import BODY_BYTES
from loopx_engine.model.message import Message, Origin


@command
class MessageSend:
    """Says something; it travels in the next packet. A correction, signed, goes first."""

    goal: str = argument("the goal", id="goal")
    text: str = argument("what is said", most=BODY_BYTES, unit="bytes")
    to: str = option("the agent it is for (none: whoever works next)")
    correction: bool = option("it must be acted on before other work", default=False)

    def needs_signature(self) -> bool:
        return self.correction

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        if self.correction and not context.who.verified:
            raise UsageError(
                "only a person's signed word is a correction", code="bad_argument", next="loopx message send --help"
            )
        made = draft.create(
            Message(
                id=draft.new_id("message"),
                goal=goal.id,
                origin=origin_of(context),
                author=context.who.actor,
                to=named_actor(draft, self.to).id if self.to else "",
                text=self.text,
                correction=self.correction,
                created_at=context.now,
            )
        )
        return {"message": made.id, "origin": made.origin}


@command
class MessageConsume:
    """Marks a message as acted on, so that it never appears as an instruction again."""

    message: str = argument("the message", id="message")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        message = draft.need(Message, self.message)
        if context.who.kind == "agent" and message.to not in ("", context.who.actor):
            raise Refused(f"{message.id} is for another agent", code="not_yours", next="loopx next")
        draft.put(replace(message, state="consumed"))
        return {"message": message.id, "state": "consumed"}


def origin_of(context: Context) -> Origin:
    """Who said it, by what the process proved."""
    if context.who.kind == "person":
        return "person" if context.who.verified else "person, unverified"
    return context.who.kind
