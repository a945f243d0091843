"""`status`: needs you, running, next look, broken. Counters and indices only, whatever the size of the ledger."""

from __future__ import annotations

import os
from typing import Any

from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.reading.view import MOST_ROWS, View, names_of

ASKED = 5
ASKED_SCAN = 200
QUIET = 20
BROKEN = 5


def status(view: View, here: str = "") -> dict[str, Any]:
    """The overview; what belongs to the project of the directory `here` comes first."""
    from loopx_engine.reading.waiting import findings

    now = view.now
    with view.engine.read() as reader:
        project = project_at(reader, here)
        own = in_project(reader, project)
        asked = [
            item
            for item in reader.records(Decision, "decision.all_open", limit=ASKED_SCAN)
            if not (item.snoozed_until and item.snoozed_until > now) and view.sees(reader, item.goal)
        ]
        asked.sort(key=lambda item: item.goal not in own)
        turns = [turn for turn in reader.records(Turn, "turn.all_live") if view.sees(reader, turn.goal)]
        turns.sort(key=lambda turn: turn.goal not in own)
        goals = {item.id: item for item in reader.records(Goal, "goal.active") if view.sees(reader, item.id)}
        names = names_of(reader, [*(item.asked_by for item in asked), *(turn.actor for turn in turns)])
        wake = reader.rows("wake.next")[0][0]
        running = [
            _running(reader, turn, goals.get(turn.goal) or reader.get(Goal, turn.goal), names, now) for turn in turns
        ]
        resting = [goal for goal in goals.values() if goal.id not in {turn.goal for turn in turns}]
        resting.sort(key=lambda goal: goal.id not in own)
        quiet = [_quiet(reader, goal) for goal in resting[:QUIET]]
        counts = {name: reader.counter("", name) for name in ("goal.active", "goal.draft", "goal.paused", "goal.done")}
        open_count = reader.counter("", "decision.open")
    broken = findings(view)["items"]
    broken.sort(key=lambda item: item["goal"] not in own)
    return {
        "now": now,
        "project": {"id": project.id, "name": project.name, "root": project.root} if project else None,
        "needs_you": [_asked(item, names, now) for item in asked[:ASKED]],
        "needs_you_count": len(asked) if len(asked) < ASKED_SCAN else open_count,
        "running": running,
        "active": quiet,
        "active_count": len(resting),
        "broken": broken[:BROKEN],
        "broken_count": len(broken),
        "next_look": int(wake) if wake is not None else None,
        "counts": counts,
    }


def project_at(reader: Transaction, here: str) -> Project | None:
    """The project that a directory belongs to: the deepest root above it, or the project of a place it lies in."""
    if not here:
        return None
    projects = reader.records(Project, "project.all", limit=MOST_ROWS)
    holding = [project for project in projects if _holds(project.root, here)]
    if holding:
        return max(holding, key=lambda project: len(project.root))
    for place in reader.records(Place, "place.all", limit=MOST_ROWS):
        if place.state != "dropped" and _holds(place.path, here):
            return next((project for project in projects if project.id == place.project), None)
    return None


def in_project(reader: Transaction, project: Project | None) -> frozenset[str]:
    """The ids of a project's goals."""
    if project is None:
        return frozenset()
    return frozenset(goal.id for goal in reader.records(Goal, "goal.of_project", project=project.id, limit=MOST_ROWS))


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/\\") + os.sep)


def _asked(decision: Decision, names: dict[str, str], now: int) -> dict[str, Any]:
    return {
        "id": decision.id,
        "goal": decision.goal,
        "risk": decision.risk,
        "question": decision.question,
        "asked_by": names.get(decision.asked_by, decision.asked_by),
        "age_ms": max(0, now - decision.created_at),
        "answers": [name for name, _ in decision.options] or ["yes", "no"],
    }


def _running(reader: Transaction, turn: Turn, goal: Goal | None, names: dict[str, str], now: int) -> dict[str, Any]:
    todo = reader.get(Todo, turn.todo) if turn.todo else None
    return {
        **_quiet(reader, goal),
        "turn": turn.id,
        "actor": names.get(turn.actor, turn.actor),
        "todo": turn.todo,
        "title_todo": todo.title if todo else turn.purpose,
        "state": "proving" if turn.state == "finishing" else "running",
        "for_ms": max(0, now - turn.begun_at),
    }


def _quiet(reader: Transaction, goal: Goal | None) -> dict[str, Any]:
    if goal is None:
        return {"goal": "", "title": "", "done": 0, "todos": 0}
    done = reader.counter(goal.id, "todo.done")
    total = reader.counter(goal.id, "todo") - reader.counter(goal.id, "todo.dropped")
    return {"goal": goal.id, "title": goal.title, "done": done, "todos": total}
