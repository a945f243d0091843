"""Conditions of waiting todos, looked at by the engine: what came true opens its todo."""

from __future__ import annotations

import shlex
from itertools import islice
from pathlib import Path

from loopx_engine.heartbeat.heart import Heart
from loopx_engine.model.condition import Condition, parse_condition
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import MINUTE
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo

MOST_A_LOOK = 200


def ready_todos(heart: Heart, goal: Goal) -> int:
    """Opens every waiting todo of a goal whose condition holds now. Returns how many."""
    with heart.engine.read() as reader:
        waiting = reader.records(Todo, "todo.waiting", goal=goal.id, limit=MOST_A_LOOK)
        places = reader.records(Place, "place.of_goal", goal=goal.id)
    place = next((item for item in places if item.state == "ready"), None)
    opened = 0
    for todo in waiting:
        if todo.wait and _holds(heart, parse_condition(todo.wait), place, todo):
            heart.act("todo ready", todo=todo.id)
            opened += 1
    return opened


def _holds(heart: Heart, condition: Condition, place: Place | None, todo: Todo) -> bool:
    if condition.kind == "at":
        return int(condition.argument) <= heart.clock.now()
    if condition.kind == "done":
        with heart.engine.read() as reader:
            needed = reader.get(Todo, condition.argument)
        return needed is not None and needed.state == "done"
    if condition.kind == "decided":
        return _decided(heart, condition.argument)
    if condition.kind == "file" and place is not None:
        return any(islice(Path(place.path).glob(condition.argument.lstrip("/")), 1))
    if condition.kind == "command" and place is not None and not heart.is_busy(place.id):
        argv = tuple(shlex.split(condition.argument))
        result = heart.run_in_box(place, argv, tag=f"{todo.id}.condition", timeout_ms=MINUTE, network=True)
        return result.state == "exited" and result.exit == 0
    return False


def _decided(heart: Heart, identifier: str) -> bool:
    with heart.engine.read() as reader:
        decision = reader.get(Decision, identifier)
        return bool(decision and decision.answer and heart.engine.trust_of(reader)(decision))
