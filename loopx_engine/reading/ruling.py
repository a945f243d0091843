"""`next`: the verdict of a goal for an actor, at most 2 KB as it is printed."""

from __future__ import annotations

import json
from typing import Any

from loopx_engine.errors import NotFound
from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.goal import Goal
from loopx_engine.model.ids import expect
from loopx_engine.model.limits import VERDICT_BYTES
from loopx_engine.reading.view import View
from loopx_engine.rules.verdict import as_json

SCHEMA_BYTES = 30
ENDS = frozenset({"ask", "wait", "stop", "error"})


def next_verdict(view: View, goal: str = "") -> dict[str, Any]:
    """Who acts next. Without a goal: the first active one, in order of priority, on which this actor may act."""
    with view.engine.read() as reader:
        if goal:
            known = reader.get(Goal, expect(goal, "goal"))
            if known is None:
                raise NotFound(f"there is no goal {goal}", next="loopx list goal")
            goals = [known]
        else:
            goals = _goals(view, reader)
        for found in goals:
            view.need(reader, found.id)
        actors = [_actor(view, reader, found) for found in goals]
    said = [(found, actor, view.engine.verdict(found.id, actor)) for found, actor in zip(goals, actors, strict=True)]
    best = next((item for item in said if item[2].kind not in ENDS), said[0])
    return _fitted({"goal": best[0].id, "actor": best[1], **as_json(best[2])})


def _goals(view: View, reader: Transaction) -> list[Goal]:
    if view.who.goal:
        found = [reader.get(Goal, view.who.goal)]
    elif view.actor:
        found = [reader.get(Goal, str(row[0])) for row in reader.rows("goal.active_for", actor=view.actor)]
    else:
        found = [*reader.records(Goal, "goal.active")]
    goals = [item for item in found if item is not None]
    if not goals:
        raise NotFound("no goal is active", code="no_goal", next="loopx goal add TITLE, then loopx goal resume GOAL")
    return goals


def _actor(view: View, reader: Transaction, goal: Goal) -> str:
    """Whose eyes: as named, else the goal's first agent, else the first one there is, else the person's own."""
    if view.actor:
        return view.actor
    if goal.agents:
        return goal.agents[0]
    from loopx_engine.model.actor import Actor

    agents = reader.records(Actor, "actor.agents")
    return agents[0].id if agents else view.who.actor


def _fitted(row: dict[str, Any]) -> dict[str, Any]:
    """At most `VERDICT_BYTES` with every character escaped: notices go first, then actions, then the end of the text."""
    for name in ("notices", "actions"):
        while _size(row) > VERDICT_BYTES and row[name]:
            row[name] = row[name][:-1]
    while _size(row) > VERDICT_BYTES and row["text"]:
        row["text"] = row["text"][: len(row["text"]) * 3 // 4]
    return row


def _size(row: dict[str, Any]) -> int:
    return len(json.dumps(row)) + SCHEMA_BYTES
