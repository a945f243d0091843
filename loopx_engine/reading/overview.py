"""`status`: needs you, running, next look, broken. Counters and indices only, whatever the size of the ledger."""

from __future__ import annotations

import os
from typing import Any

from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.decision import Decision
from loopx_engine.model.project import Project
from loopx_engine.reading.named import Named
from loopx_engine.reading.sound import peek
from loopx_engine.reading.view import MOST_ROWS, View

ASKED = 5
QUIET = 20
BROKEN = 5
PHASES = ("goal.active", "goal.draft", "goal.paused", "goal.done")


def status(view: View, here: str = "") -> dict[str, Any]:
    """The overview; what belongs to the project of the directory `here` comes first."""
    from loopx_engine.reading.findings import finding_row, found_in
    from loopx_engine.reading.waiting import asked_in_order

    now = view.now
    with view.engine.read() as reader:
        named = Named(reader)
        project = project_at(reader, here)
        own = in_project(reader, project)
        asked = asked_in_order(view, reader, own)
        turns = [row for row in reader.rows("turn.running") if view.sees(reader, row[1])]
        turns.sort(key=lambda row: row[1] not in own)
        running = [_running(reader, named, row, now) for row in turns]
        busy = {row[1] for row in turns}
        resting = [str(row[0]) for row in reader.rows("goal.ids_active") if view.sees(reader, row[0])]
        resting = sorted((name for name in resting if name not in busy), key=lambda name: name not in own)
        broken = sorted(found_in(view, reader), key=lambda item: item.goal not in own)
        wake = reader.rows("wake.next")[0][0]
        return {
            "now": now,
            "project": {"id": project.id, "name": project.name, "root": project.root} if project else None,
            "needs_you": _needs_you(reader, named, asked, now),
            "needs_you_count": len(asked),
            "running": running,
            "active": [_quiet(reader, named, name) for name in resting[:QUIET]],
            "active_count": len(resting),
            "broken": [finding_row(item, named) for item in broken[:BROKEN]],
            "broken_count": len(broken),
            "next_look": int(wake) if wake is not None else None,
            "counts": {name: reader.counter("", name) for name in PHASES},
        }


def project_at(reader: Transaction, here: str) -> Project | None:
    """The project that a directory belongs to: the deepest root above it, or the project of a place it lies in."""
    if not here:
        return None
    holding = [(root, name) for name, root in reader.rows("project.roots", limit=MOST_ROWS) if _holds(root, here)]
    if holding:
        return peek(reader, Project, max(holding, key=lambda item: len(item[0]))[1])
    places = reader.rows("place.paths", limit=MOST_ROWS)
    return next((peek(reader, Project, name) for path, name in places if _holds(path, here)), None)


def in_project(reader: Transaction, project: Project | None) -> frozenset[str]:
    """The ids of a project's goals."""
    if project is None:
        return frozenset()
    return frozenset(str(row[0]) for row in reader.rows("goal.ids_of_project", project=project.id))


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/\\") + os.sep)


def _needs_you(reader: Transaction, named: Named, asked: list[str], now: int) -> list[dict[str, Any]]:
    """The first that can be shown; one that cannot still counts, and the inbox says why."""
    rows: list[dict[str, Any]] = []
    for name in asked:
        decision = peek(reader, Decision, name)
        if decision is not None:
            rows.append(_asked(named, decision, now))
        if len(rows) == ASKED:
            break
    return rows


def _asked(named: Named, decision: Decision, now: int) -> dict[str, Any]:
    return {
        "id": decision.id,
        "goal": decision.goal,
        "risk": decision.risk,
        "question": decision.question,
        "asked_by": named.actor(decision.asked_by),
        "age_ms": max(0, now - decision.created_at),
        "answers": [name for name, _ in decision.options] or ["yes", "no"],
    }


def _running(reader: Transaction, named: Named, row: tuple[Any, ...], now: int) -> dict[str, Any]:
    turn, goal, actor, todo, purpose, state, begun_at = row
    return {
        **_quiet(reader, named, goal),
        "turn": turn,
        "actor": named.actor(actor),
        "todo": todo,
        "title_todo": named.todo(todo) or purpose,
        "state": "proving" if state == "finishing" else "running",
        "for_ms": max(0, now - begun_at),
    }


def _quiet(reader: Transaction, named: Named, goal: str) -> dict[str, Any]:
    done = reader.counter(goal, "todo.done")
    total = reader.counter(goal, "todo") - reader.counter(goal, "todo.dropped")
    return {"goal": goal, "title": named.goal(goal), "done": done, "todos": total}
