"""Permission inside the transaction: what the goal's preset and its verified grants say about one act."""

from __future__ import annotations

from dataclasses import replace

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.effect import action_of
from loopx_engine.commands.snapshot import grant_uses
from loopx_engine.errors import Refused
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant, PermissionKind
from loopx_engine.rules.permission import Action, Ruling, decide_permission
from loopx_engine.rules.risk import raise_only, risk_of


def rule_effect(draft: Draft, context: Context, goal: Goal, effect: dict[str, object]) -> Ruling:
    """What the goal's permissions say about an act outside; the engine's rule sets the least risk."""
    action = action_of(effect)
    protected = effect.get("protected")
    floor = risk_of(action.kind, effect, tuple(protected) if isinstance(protected, list | tuple) else ())
    ruling = rule(draft, context, goal, action)
    return replace(ruling, risk=raise_only(ruling.risk, floor))


def rule(draft: Draft, context: Context, goal: Goal, action: Action) -> Ruling:
    """Only grants whose signature verifies now count."""
    grants = [item for item in draft.records(Grant, "grant.live", goal=goal.id) if context.trusted(item)]
    return decide_permission(
        action,
        preset=goal.autonomy,
        sandboxed=context.sandbox != "none",
        inside_place=False,
        network=goal.network,
        grants=grants,
        uses=grant_uses(draft, goal.id),
        goal=goal.id,
        now=context.now,
    )


def need_grant(draft: Draft, context: Context, goal: Goal, kind: PermissionKind, text: str) -> None:
    """Cites the grant that allows the engine to act by itself. Refuses (`permission_missing`) where there is none."""
    ruling = rule(draft, context, goal, Action(kind=kind, text=text, argv=None))
    if ruling.effect != "allow" or not ruling.rule.startswith("gr-"):
        raise Refused(f"nobody granted {kind} for {goal.id}", code="permission_missing", next="loopx inbox")
    draft.cite(ruling.rule)
