"""`inbox` and `findings`: what waits for a person, and what needs recovery, derived now."""

from __future__ import annotations

from typing import Any

from loopx_engine.model.decision import Decision
from loopx_engine.model.effect import Effect
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.record import values
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.reading.overview import in_project, project_at
from loopx_engine.reading.view import MOST_ROWS, ROWS, View, bounded, names_of, row_of
from loopx_engine.rules.findings import broken_place, in_order, lost_turn, sleeping_goal, uncertain_effect


def inbox(view: View, here: str = "", limit: int = ROWS) -> dict[str, Any]:
    """What needs a person: open decisions, this project's first, gravest first, and findings."""
    with view.engine.read() as reader:
        found = [
            item
            for item in reader.records(Decision, "decision.all_open", limit=MOST_ROWS)
            if not (item.snoozed_until and item.snoozed_until > view.now) and view.sees(reader, item.goal)
        ]
        own = in_project(reader, project_at(reader, here))
        found.sort(key=lambda item: item.goal not in own)
        names = names_of(reader, [item.asked_by for item in found])
    rows = [
        {**row_of(item), "asked_by_name": names.get(item.asked_by, item.asked_by)} for item in found[: bounded(limit)]
    ]
    return {"items": rows, "findings": findings(view)["items"], "total": len(found)}


def findings(view: View) -> dict[str, Any]:
    """What needs recovery."""
    now = view.now
    with view.engine.read() as reader:
        goals = [item for item in reader.records(Goal, "goal.all", limit=200) if item.phase in ("active", "paused")]
        found = []
        for goal in goals:
            if not view.sees(reader, goal.id):
                continue
            for todo in reader.records(Todo, "todo.unfinished", goal=goal.id, limit=50):
                last = reader.records(Turn, "turn.of_todo", todo=todo.id, limit=1)
                found.append(lost_turn(last[0], todo) if last else None)
            found.extend(broken_place(item, now) for item in reader.records(Place, "place.of_goal", goal=goal.id))
            found.append(sleeping_goal(goal, bool(reader.rows("wake.of", goal=goal.id)), now))
        unsettled = reader.records(Effect, "effect.unsettled")
        found.extend(uncertain_effect(item) for item in unsettled if view.sees(reader, item.goal))
    items = [{**values(item), "choices": [values(choice) for choice in item.choices]} for item in in_order(found)]
    return {"items": items}
