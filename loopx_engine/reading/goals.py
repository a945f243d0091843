"""`goals`: a window of the goals, each with how far it is and the one sentence on why it stands there."""

from __future__ import annotations

import json
from typing import Any

from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.finding import Finding
from loopx_engine.model.goal import Goal
from loopx_engine.model.record import noun
from loopx_engine.reading.findings import found_in
from loopx_engine.reading.named import Named
from loopx_engine.reading.overview import project_at
from loopx_engine.reading.sound import needed, rows_of
from loopx_engine.reading.view import ROWS, View, bounded

WORDS = {"active": "WAIT", "draft": "DRAFT", "paused": "HOLD", "done": "DONE", "archived": "ARCH"}
TROUBLE = {"lost turn": "turn lost", "damaged record": "record damaged"}
DOING = {"plan": "plans", "replan": "plans anew", "watch": "watches"}
Line = tuple[str, str, int | None]


@noun
class Standing:
    """What the rows of a window need beside the goals themselves, by goal and read once."""

    now: int
    counts: dict[str, dict[str, int]]
    needs: dict[str, int]
    running: dict[str, list[dict[str, Any]]]
    findings: dict[str, list[Finding]]
    due: dict[str, int]
    projects: dict[str, str]


def goals(view: View, here: str = "", offset: int = 0, limit: int = ROWS, at: str = "") -> dict[str, Any]:
    """The goals in order: own project, phase, priority, newest; archived ones are not listed.

    `at` is the index of that goal (None: not listed), and moves a window that would not contain it.
    """
    limit = bounded(limit)
    with view.engine.read() as reader:
        project = project_at(reader, here)
        order = _Order(view, reader, project.id if project else "")
        index = order.index(at) if at else None
        offset = window(offset, limit, index)
        ids = order.ids(offset, limit)
        standing = standing_of(view, reader, ids)
        rows = rows_of(ids, lambda name: goal_row(needed(reader, Goal, name), standing))
    return {"total": order.total, "offset": offset, "at": index, "items": rows}


def window(offset: int, limit: int, index: int | None) -> int:
    """Where a window begins: as asked, unless it would not contain `index`; then with that row in its middle."""
    if index is None or offset <= index < offset + limit:
        return max(0, offset)
    return max(0, index - limit // 2)


class _Order:
    """All listed goals of a view: those of the own project first. A bounded view has its few in hand."""

    def __init__(self, view: View, reader: Transaction, own: str) -> None:
        self._reader, self._own = reader, own
        self._own_count = int(reader.rows("goal.own_count", own=own)[0][0]) if own else 0
        self.total = int(reader.rows("goal.listed_count")[0][0])
        self._bounded: list[str] | None = None
        if view.agent:
            self._bounded = [name for name in self._ids(0, self.total) if view.sees(reader, name)]
            self.total = len(self._bounded)

    def ids(self, offset: int, limit: int) -> list[str]:
        return self._ids(offset, limit) if self._bounded is None else self._bounded[offset : offset + limit]

    def _ids(self, offset: int, limit: int) -> list[str]:
        given = {"own": self._own, "limit": limit, "offset": offset}
        found = self._reader.rows("goal.own_listed", **given) if offset < self._own_count else []
        given |= {"limit": limit - len(found), "offset": max(0, offset - self._own_count)}
        return [str(row[0]) for row in (*found, *self._reader.rows("goal.other_listed", **given))]

    def index(self, at: str) -> int | None:
        if self._bounded is not None:
            return self._bounded.index(at) if at in self._bounded else None
        project = self._reader.rows("goal.project_of", at=at)
        if not project:
            return None
        own = project[0][0] == self._own
        before = self._reader.rows("goal.own_before" if own else "goal.other_before", own=self._own, at=at)
        return int(before[0][0]) + (0 if own else self._own_count)


def standing_of(view: View, reader: Transaction, ids: list[str]) -> Standing:
    """What stands beside these goals, in a few statements however many they are."""
    now, named = view.now, Named(reader)
    wanted, asked = set(ids), json.dumps(ids)
    counts: dict[str, dict[str, int]] = {name: {} for name in ids}
    for goal, name, value in reader.rows("goal.counts", goals=asked):
        counts[goal][name] = int(value)
    running: dict[str, list[dict[str, Any]]] = {}
    for row in reader.rows("turn.running"):
        if row[1] in wanted:
            running.setdefault(row[1], []).append(_running(named, row, now))
    findings: dict[str, list[Finding]] = {}
    for finding in found_in(view, reader):
        findings.setdefault(finding.goal, []).append(finding)
    return Standing(
        now=now,
        counts=counts,
        needs=dict(reader.rows("decision.waiting_for", goals=asked, now=now)),
        running=running,
        findings=findings,
        due=dict(reader.rows("wake.of_goals", goals=asked)),
        projects={row[0]: named.project(row[0]) for row in reader.rows("project.of_goals", goals=asked)},
    )


def goal_row(goal: Goal, standing: Standing) -> dict[str, Any]:
    """One goal of the list."""
    counts = standing.counts[goal.id]
    running = standing.running.get(goal.id, [])
    line, voice, due = _line(goal, standing)
    return {
        "id": goal.id,
        "title": goal.title,
        "phase": goal.phase,
        "stopped": goal.stopped,
        "project": goal.project,
        "project_name": standing.projects.get(goal.project, goal.project),
        "word": word_of(goal, bool(running)),
        "line": line,
        "voice": voice,
        "due": due,
        "done": counts.get("todo.done", 0),
        "todos": counts.get("todo", 0) - counts.get("todo.dropped", 0),
        "met": counts.get("criterion.met", 0),
        "criteria": counts.get("criterion", 0),
        "needs": standing.needs.get(goal.id, 0),
        "running": running,
        "created_at": goal.created_at,
        "since": (goal.ended_at or goal.created_at) if goal.phase == "done" else goal.created_at,
    }


def word_of(goal: Goal, running: bool) -> str:
    """The chip of a goal."""
    return "RUN" if running else WORDS[goal.phase]


def _line(goal: Goal, standing: Standing) -> Line:
    """Why it stands here: what needs a person first, then what is broken, what runs, what it waits for."""
    counts = standing.counts[goal.id]
    todos = counts.get("todo", 0) - counts.get("todo.dropped", 0)
    if standing.needs.get(goal.id):
        proved = f" · {counts.get('todo.proved', 0)}/{todos} proved" if todos else ""
        return f"needs you{proved}", "accent", None
    found = standing.findings.get(goal.id, [])
    if found:
        many = "1 finding" if len(found) == 1 else f"{len(found)} findings"
        return f"{many} · {TROUBLE.get(found[0].kind, found[0].kind)}", "bad", None
    running = standing.running.get(goal.id, [])
    if running:
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        return f"{running[0]['actor_name']} · {running[0]['todo_title']}{more}", "run", None
    if goal.phase == "active":
        due = standing.due.get(goal.id, 0)
        return ("next look", "soft", due) if due > standing.now else ("is looked at next", "soft", None)
    return _resting(goal, counts), "soft", None


def _resting(goal: Goal, counts: dict[str, int]) -> str:
    if goal.phase == "paused":
        return "stopped" if goal.stopped else "paused"
    if goal.phase == "draft":
        return "not started"
    total, waived = counts.get("criterion", 0), counts.get("criterion.waived", 0)
    given_up = f", {waived} given up" if waived else ""
    return f"closed, {counts.get('criterion.met', 0)}/{total} criteria met{given_up}" if total else "closed"


def _running(named: Named, row: tuple[Any, ...], now: int) -> dict[str, Any]:
    turn, _, actor, todo, purpose, state, begun_at = row
    return {
        "turn": turn,
        "actor_name": named.actor(actor),
        "todo_title": named.todo(todo) or DOING.get(purpose, purpose),
        "state": "proving" if state == "finishing" else "running",
        "for_ms": max(0, now - begun_at),
    }
