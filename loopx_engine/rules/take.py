"""Whether a todo may be taken: the one predicate behind verdict row 11 and behind the transaction's take."""

from __future__ import annotations

from collections.abc import Callable

from loopx_engine.model.actor import Actor
from loopx_engine.model.condition import parse_condition
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import STALLED_TURNS
from loopx_engine.model.place import Place
from loopx_engine.model.record import noun
from loopx_engine.model.todo import Todo
from loopx_engine.rules.snapshot import Snapshot


@noun
class Obstacle:
    """Why not: a stable code, a sentence, and the id of what stands in the way."""

    code: str
    text: str
    by: str = ""


def obstacle(todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> Obstacle | None:
    """The first thing that keeps this actor from taking this todo now, or None."""
    for rule in RULES:
        found = rule(todo, snapshot, actor, now)
        if found is not None:
            return found
    return None


def blocking(snapshot: Snapshot, todo: str) -> Decision | None:
    """The decision that stands in a todo's way: open, or withdrawn or expired without an answer while it is still wanted."""
    for decision in snapshot.decisions:
        if todo in decision.blocks and (decision.state == "open" or (decision.state in LOOSE and not decision.outcome)):
            return decision
    return None


def free_to_take(todo: Todo, actor: Actor, snapshot: Snapshot, now: int) -> bool:
    """Whether an agent could take the todo, as far as the agent goes: active, capable, not excluded, not limited, not busy."""
    busy = any(turn.actor == actor.id for turn in snapshot.turns)
    return not busy and all(rule(todo, snapshot, actor, now) is None for rule in ABOUT_THE_ACTOR)


LOOSE = ("withdrawn", "expired")


def _state(todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> Obstacle | None:
    if todo.kind == "watch":
        return Obstacle(code="other_kind", text=f"{todo.id} is a watch")
    if todo.state == "open":
        return None
    if todo.state == "waiting" and todo.wait:
        condition = parse_condition(todo.wait)
        if condition.kind == "at" and int(condition.argument) <= now:
            return None
        return Obstacle(code="condition_open", text=f"{todo.id} waits for {todo.wait}", by=todo.wait)
    return Obstacle(code=todo.state, text=f"{todo.id} is {todo.state}")


def _needs(todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> Obstacle | None:
    for need in todo.needs:
        state = snapshot.needs.get(need, "missing")
        if state == "dropped":
            return Obstacle(code="need_dropped", text=f"{todo.id} needs {need}, which was dropped", by=need)
        if state != "done":
            return Obstacle(code="need_open", text=f"{todo.id} needs {need}, which is {state}", by=need)
    return None


def _decisions(todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> Obstacle | None:
    decision = blocking(snapshot, todo.id)
    if decision is None:
        return None
    return Obstacle(code="decision_open", text=f"{decision.id} stands in the way: {decision.question}", by=decision.id)


def _lease(todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> Obstacle | None:
    for turn in snapshot.turns:
        if turn.todo == todo.id and turn.actor != actor.id:
            return Obstacle(code="held_by_other", text=f"{turn.actor} works on {todo.id} in {turn.id}", by=turn.actor)
    for lease in snapshot.leases:
        if lease.id == todo.id and lease.live(now) and lease.actor != actor.id:
            return Obstacle(code="held_by_other", text=f"{lease.actor} holds {todo.id}", by=lease.actor)
    return None


def _stalled(todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> Obstacle | None:
    if todo.stalls < STALLED_TURNS:
        return None
    return Obstacle(code="stalled", text=f"{todo.id} saw {todo.stalls} turns without progress")


def _registered(todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> Obstacle | None:
    if actor.kind != "agent" or actor.state != "active":
        return Obstacle(code="not_an_agent", text=f"{actor.name} is no active agent", by=actor.id)
    if snapshot.agents and actor.id not in {agent.id for agent in snapshot.agents}:
        return Obstacle(code="not_of_goal", text=f"{actor.name} is not among the goal's agents", by=actor.id)
    if actor.id in todo.excluded:
        return Obstacle(code="excluded", text=f"{actor.name} may not take {todo.id}", by=actor.id)
    return None


def _capable(todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> Obstacle | None:
    missing = [item for item in todo.capabilities if item not in actor.capabilities]
    if not missing:
        return None
    return Obstacle(code="capability_missing", text=f"{todo.id} needs an agent that can {missing[0]}", by=missing[0])


def _limited(todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> Obstacle | None:
    limit = next((item for item in snapshot.limits if item.id == actor.id and item.until > now), None)
    if limit is None:
        return None
    return Obstacle(code="limit_until", text=f"{actor.name} is limited ({limit.source})", by=actor.id)


def _place(todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> Obstacle | None:
    check = snapshot.checks.get(todo.check or (snapshot.goal.check if snapshot.goal else None) or "")
    if check is not None and check.baseline == "cannot run":
        return Obstacle(code="place_broken", text=f"the check of {todo.id} cannot run", by=check.id)
    broken = next((item for item in snapshot.places if item.state == "broken"), None)
    ready = [item for item in snapshot.places if item.state == "ready"]
    if broken is not None and not ready:
        return Obstacle(code="place_broken", text=f"{broken.id} cannot be used: {broken.reason[:200]}", by=broken.id)
    if not ready:
        return None
    taken = {turn.place: turn for turn in snapshot.turns if (turn.actor, turn.todo) != (actor.id, todo.id)}
    free = [item for item in ready if item.id not in taken and item.id not in snapshot.busy_places]
    if not free:
        holder = next((taken[item.id].actor for item in ready if item.id in taken), ready[0].id)
        return Obstacle(code="place_held", text=f"another turn runs in {ready[0].id}", by=holder)
    if any(_usable(item, todo, snapshot, actor, now) for item in free):
        return None
    return Obstacle(code="place_held", text=f"{free[0].id} holds the work of {free[0].holds}", by=str(free[0].holds))


def _usable(place: Place, todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> bool:
    """A place holds work of one todo: only that one is taken there, unless it cannot be taken (then it is set aside)."""
    if place.holds in (None, todo.id):
        return True
    held = next((item for item in snapshot.todos if item.id == place.holds), None)
    if held is None:
        return True
    if held.state == "proving":
        return False
    return any(rule(held, snapshot, actor, now) is not None for rule in (_state, _needs, _decisions, _stalled))


def _order(todo: Todo, snapshot: Snapshot, actor: Actor, now: int) -> Obstacle | None:
    if any(item.todo == todo.id and item.to in ("", actor.id) and item.giver != actor.id for item in snapshot.handoffs):
        return None
    for agent in snapshot.agents:
        if agent.id == actor.id:
            return None
        if free_to_take(todo, agent, snapshot, now):
            return Obstacle(
                code="held_by_other", text=f"{agent.name} comes before {actor.name} and is free", by=agent.id
            )
    return None


Rule = Callable[[Todo, Snapshot, Actor, int], Obstacle | None]
ABOUT_THE_ACTOR: tuple[Rule, ...] = (_registered, _capable, _limited)
RULES: tuple[Rule, ...] = (_state, _needs, _decisions, _lease, _stalled, *ABOUT_THE_ACTOR, _place, _order)
