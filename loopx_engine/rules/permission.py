"""Permission: what the grants and the preset say of one act. The most specific rule wins; on a tie `deny`, then `ask`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from loopx_engine.model.decision import Risk
from loopx_engine.model.goal import Preset
from loopx_engine.model.grant import Answer, Grant, PermissionKind
from loopx_engine.model.record import noun
from loopx_engine.rules.patterns import canonical_exec, matches, plain_argv, specificity
from loopx_engine.rules.presets import preset_answer
from loopx_engine.rules.risk import OF_KIND

ORDER: dict[Answer, int] = {"deny": 2, "ask": 1, "allow": 0}


@noun
class Action:
    """One act: its kind, its canonical text, and for `exec` the argv (None for a shell line)."""

    kind: PermissionKind
    text: str
    argv: tuple[str, ...] | None = None


@noun
class Ruling:
    """What was decided and by which rule: a grant's id, or `preset NAME`."""

    effect: Answer
    rule: str
    risk: Risk


def decide_permission(
    action: Action,
    *,
    preset: Preset,
    sandboxed: bool,
    inside_place: bool,
    network: bool,
    grants: Sequence[Grant],
    uses: Mapping[str, int],
    goal: str,
    now: int,
    declared_checks: Collection[tuple[str, ...]] = (),
) -> Ruling:
    """Grants in force first, else the preset. Expired, used up, revoked and other goals' grants never apply."""
    risk = OF_KIND.get(action.kind, "high")
    argv = (action.argv or plain_argv(action.text)) if action.kind == "exec" else None
    plain = action.kind != "exec" or argv is not None
    texts = {action.text, canonical_exec(argv)} if argv else {action.text}
    found = [
        grant
        for grant in grants
        if in_force(grant, uses.get(grant.id, 0), goal, now)
        and grant.kind == action.kind
        and any(matches(grant.pattern, text, plain=plain) for text in texts)
    ]
    if found:
        best = max(found, key=lambda grant: (specificity(grant.pattern), ORDER[grant.effect], grant.id))
        return Ruling(effect=best.effect, rule=best.id, risk=risk)
    effect = preset_answer(
        preset,
        action.kind,
        sandboxed=sandboxed,
        inside_place=inside_place,
        network=network,
        declared=argv in declared_checks,
    )
    return Ruling(effect=effect, rule=f"preset {preset}", risk=risk)


def in_force(grant: Grant, used: int, goal: str, now: int) -> bool:
    """Whether a grant still applies. A denial has no uses to run out of."""
    live = grant.state == "live" and grant.expires > now and grant.goal in (None, goal)
    return live and (grant.effect != "allow" or used < grant.uses)
