"""Limit: a runtime or account that cannot run until a time, with the source that said so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import command, hidden
from loopx_engine.model.actor import Actor
from loopx_engine.model.limit import Limit


@command
class LimitSet:
    """Sets or ends an agent's limit."""

    actor: str = hidden("the agent", id="actor")
    until: int = hidden("UTC milliseconds; 0 ends it")
    source: str = hidden("who said so", default="", most=500)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        actor = draft.need(Actor, self.actor)
        current = draft.get(Limit, actor.id)
        if self.until == 0:
            if current is not None and current.state == "waiting":
                draft.put(replace(current, state="ended"))
            return {"actor": actor.id, "until": None}
        if current is None:
            draft.create(Limit(id=actor.id, until=self.until, source=self.source))
        else:
            probes = current.probes + 1 if current.state == "waiting" else 0
            draft.put(replace(current, state="waiting", until=self.until, source=self.source, probes=probes))
        return {"actor": actor.id, "until": self.until}
