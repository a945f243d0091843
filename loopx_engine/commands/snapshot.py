"""Loads the snapshot that the verdict reads, through a Reader: bounded, by index, the same in a screen and in a transaction."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.condition import parse_condition
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import STALLED_TURNS
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.handoff import Handoff
from loopx_engine.model.lease import Lease
from loopx_engine.model.limit import Limit
from loopx_engine.model.message import Message
from loopx_engine.model.place import Place
from loopx_engine.model.reader import Reader
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.model.watch import Watch
from loopx_engine.rules.snapshot import SNAPSHOT_TODOS, Snapshot

TRUSTED_STATES = ("answered", "carried out")


def load_snapshot(
    reader: Reader,
    goal_id: str,
    actor_id: str,
    *,
    trusted: Callable[[Decision | Grant], bool],
    busy_places: tuple[str, ...] = (),
    sandbox: str = "none",
) -> Snapshot:
    """What the verdict needs of one goal for one actor. An answered decision whose signature fails counts as open."""
    goal = reader.get(Goal, goal_id)
    actor = reader.get(Actor, actor_id)
    if goal is None or actor is None:
        return Snapshot(goal=goal, actor=actor)
    todos = _todos(reader, goal_id, actor_id)
    criteria = tuple(reader.records(Criterion, "criterion.of_goal", goal=goal_id))
    decisions = tuple(_verified(item, trusted) for item in reader.records(Decision, "decision.standing", goal=goal_id))
    tokens, cost, unknown = (
        reader.counter(goal_id, name) for name in ("turn.tokens", "turn.cost", "turn.usage_unknown")
    )
    return Snapshot(
        goal=goal,
        actor=actor,
        agents=tuple(found for name in goal.agents if (found := reader.get(Actor, name)) is not None),
        criteria=criteria,
        todos=todos,
        needs=_states(reader, todos),
        serving={int(number): int(count) for number, count in reader.rows("todo.serving", goal=goal_id)},
        leases=tuple(reader.records(Lease, "lease.held", goal=goal_id)),
        turns=tuple(reader.records(Turn, "turn.live", goal=goal_id)),
        places=tuple(reader.records(Place, "place.of_goal", goal=goal_id)),
        busy_places=busy_places,
        decisions=decisions,
        refused=tuple(str(row[0]) for row in reader.rows("todo.refused", goal=goal_id)),
        grants=tuple(item for item in reader.records(Grant, "grant.live", goal=goal_id) if trusted(item)),
        grant_uses=grant_uses(reader, goal_id),
        limits=tuple(reader.records(Limit, "limit.waiting")),
        corrections=tuple(reader.records(Message, "message.corrections", goal=goal_id, actor=actor_id)),
        handoffs=tuple(reader.records(Handoff, "handoff.offered", goal=goal_id)),
        watches=tuple(reader.records(Watch, "watch.of_goal", goal=goal_id)),
        checks=_checks(reader, goal, criteria, todos),
        dead_conditions=tuple(
            todo.id for todo in todos if todo.wait and todo.state == "waiting" and _dead(reader, todo.wait)
        ),
        successors=tuple(str(row[0]) for row in reader.rows("todo.without_successor", goal=goal_id)),
        unfinished=sum(reader.counter(goal_id, f"todo.{state}") for state in ("open", "waiting", "proving")),
        done=reader.counter(goal_id, "todo.done"),
        plans_in_vain=_plans_in_vain(reader, goal_id),
        spent_turns=reader.counter(goal_id, "turn"),
        spent_tokens=None if unknown and not tokens else tokens,
        spent_cost=None if unknown and not cost else cost,
        sandbox=sandbox,
    )


def grant_uses(reader: Reader, goal: str) -> dict[str, int]:
    """Live grant id -> how many receipts cite it."""
    return {str(grant): int(count) for grant, count in reader.rows("grant.uses", goal=goal)}


def _plans_in_vain(reader: Reader, goal: str) -> int:
    """How many of the newest turns planned, each from the same frontier: nothing moved between them."""
    newest = reader.rows("turn.newest", goal=goal, limit=STALLED_TURNS)
    same = [row for row in newest if row[1] == newest[0][1] and row[0] in ("plan", "replan")]
    return len(same) if len(same) == len(newest) else 0


def _todos(reader: Reader, goal: str, actor: str) -> tuple[Todo, ...]:
    ready = reader.records(Todo, "todo.ready", goal=goal, limit=SNAPSHOT_TODOS // 2)
    held = reader.records(Todo, "todo.held", goal=goal)
    rest = reader.records(Todo, "todo.unfinished", goal=goal, limit=SNAPSHOT_TODOS)
    found = {todo.id: todo for todo in [*held, *ready, *rest]}
    bounded = list(found.values())[: SNAPSHOT_TODOS + len(held)]
    return tuple(sorted(bounded, key=lambda todo: (todo.rank, todo.id)))


def _states(reader: Reader, todos: tuple[Todo, ...]) -> dict[str, str]:
    wanted = sorted({need for todo in todos for need in todo.needs})
    if not wanted:
        return {}
    known = {str(name): str(state) for name, state in reader.rows("todo.states", ids=json.dumps(wanted))}
    return {need: known.get(need, "missing") for need in wanted}


def _checks(reader: Reader, goal: Goal, criteria: tuple[Criterion, ...], todos: tuple[Todo, ...]) -> dict[str, Check]:
    wanted = {goal.check, *(item.check for item in criteria), *(item.check for item in todos)} - {None}
    if not wanted:
        return {}
    found = reader.records(Check, "check.named", ids=json.dumps(sorted(str(item) for item in wanted)))
    return {check.id: check for check in found}


def _verified(decision: Decision, trusted: Callable[[Any], bool]) -> Decision:
    from dataclasses import replace

    if decision.state in TRUSTED_STATES and decision.answer and not trusted(decision):
        return replace(decision, state="open", answer="", proof=None, outcome="")
    return decision


def _dead(reader: Reader, wait: str) -> bool:
    condition = parse_condition(wait)
    if condition.kind == "done":
        needed = reader.get(Todo, condition.argument)
        return needed is None or needed.state == "dropped"
    if condition.kind == "decided":
        decision = reader.get(Decision, condition.argument)
        return decision is None or decision.state in ("withdrawn", "void")
    if condition.kind == "changed":
        watch = reader.get(Watch, condition.argument)
        return watch is None or watch.state == "ended"
    return False
