"""Grant: remembering a permission ahead of any question, and ending one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.answering import make_grant
from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, option
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import PERMISSION_KINDS, Grant


@command
class GrantAdd:
    """Remembers a permission: a kind, a pattern over the action's text, an end and a number of uses."""

    kind: str = argument("what kind of act", choices=PERMISSION_KINDS)
    pattern: str = argument("a glob over the act's text, like origin/loopx/*", most=1000)
    effect: str = option("allow, ask or deny", default="allow", choices=("allow", "ask", "deny"))
    goal: str = option("for this goal only", id="goal")
    until: int = option("when it ends, UTC milliseconds (24 hours)", default=0)
    uses: int = option("how often it may be used (20)", default=0)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        if self.goal:
            draft.need(Goal, self.goal)
        made = make_grant(
            draft,
            context,
            kind=self.kind,
            pattern=self.pattern,
            effect=self.effect,
            goal=self.goal or None,
            until=self.until,
            uses=self.uses,
        )
        return {"grant": made.id, "expires": made.expires, "uses": made.uses}


@command
class GrantRevoke:
    """Ends a grant at once."""

    grant: str = argument("the grant", id="grant")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        grant = draft.put(replace(draft.need(Grant, self.grant), state="revoked"))
        return {"grant": grant.id, "state": "revoked"}
