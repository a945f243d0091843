"""`todos`: a window of a goal's todos in their order, each with its mark, who has it or did it, and what stands beside it."""

from __future__ import annotations

import json
from typing import Any

from loopx_engine.errors import NotFound
from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.check import Check
from loopx_engine.model.condition import parse_condition
from loopx_engine.model.defaults import STALLED_TURNS
from loopx_engine.model.goal import Goal
from loopx_engine.model.ids import expect
from loopx_engine.model.lease import Lease
from loopx_engine.model.record import noun
from loopx_engine.model.todo import Todo
from loopx_engine.reading.goals import window
from loopx_engine.reading.named import Named
from loopx_engine.reading.sound import needed, peek, rows_of
from loopx_engine.reading.view import ROWS, View, bounded
from loopx_engine.rules.proof import serves_criterion

Said = tuple[str, str, int | None]
WAITS = {"changed": "waits for a change", "file": "waits for a file", "command": "waits for a command"}


@noun
class Beside:
    """What the rows of a window need beside the todos themselves, each by todo and read once."""

    now: int
    running: dict[str, tuple[str, str]]
    asked: dict[str, str]
    needs: dict[str, str]
    doers: dict[str, str]
    settled: dict[str, int]


def todos(view: View, goal: str, offset: int = 0, limit: int = ROWS, at: str = "") -> dict[str, Any]:
    """The todos by rank, dropped ones last. `at` is the index of that todo (None: not of this goal), and moves a window
    that would not contain it. Raises `NotFound`."""
    limit = bounded(limit)
    with view.engine.read() as reader:
        if peek(reader, Goal, expect(goal, "goal")) is None and not reader.rows("goal.project_of", at=goal):
            raise NotFound(f"there is no goal {goal}", next="loopx list goal")
        view.need(reader, goal)
        named = Named(reader)
        index = _index(reader, goal, at) if at else None
        offset = window(offset, limit, index)
        ids = [str(row[0]) for row in reader.rows("todo.listed", goal=goal, limit=limit, offset=offset)]
        records = {name: todo for name in ids if (todo := peek(reader, Todo, name)) is not None}
        beside = _beside(view, reader, goal, records)
        rows = rows_of(ids, lambda name: _row(reader, named, records.get(name) or needed(reader, Todo, name), beside))
        return {"total": reader.counter(goal, "todo"), "offset": offset, "at": index, "items": rows}


def _index(reader: Transaction, goal: str, at: str) -> int | None:
    stands = reader.rows("todo.stands_in", goal=goal, at=at)
    if not stands:
        return None
    before = int(reader.rows("todo.before", goal=goal, at=at)[0][0])
    return before + (int(reader.rows("todo.not_dropped", goal=goal)[0][0]) if stands[0][0] else 0)


def _beside(view: View, reader: Transaction, goal: str, records: dict[str, Todo]) -> Beside:
    done = json.dumps([name for name, todo in records.items() if todo.state == "done"])
    needs = json.dumps(sorted({need for todo in records.values() for need in todo.needs}))
    return Beside(
        now=view.now,
        running={row[2]: (row[1], row[0]) for row in reader.rows("turn.running_of", goal=goal) if row[2]},
        asked=dict(reader.rows("decision.in_the_way", goal=goal)),
        needs=dict(reader.rows("todo.states", ids=needs)),
        doers=dict(reader.rows("todo.doers", ids=done)),
        settled=dict(reader.rows("todo.settled_by", ids=done)),
    )


def _row(reader: Transaction, named: Named, todo: Todo, beside: Beside) -> dict[str, Any]:
    check, lease = peek(reader, Check, todo.check), peek(reader, Lease, todo.id)
    held = lease if lease is not None and lease.live(beside.now) else None
    mark = _mark(todo, beside)
    note, voice, due = _note(todo, mark, beside)
    settled = beside.settled.get(todo.id)
    return {
        "id": todo.id,
        "title": todo.title,
        "body": todo.body,
        "kind": todo.kind,
        "state": todo.state,
        "proof": todo.proof,
        "mark": mark,
        "who": _who(named, todo, held, beside),
        "note": note,
        "voice": voice,
        "due": due,
        "needs": list(todo.needs),
        "serves": list(todo.serves),
        "scopes": list(todo.scopes),
        "wait": todo.wait,
        "argv": list(check.argv) if check else None,
        "lease": {"actor": named.actor(held.actor), "turn": held.turn, "expires": held.expires} if held else None,
        "decision": beside.asked.get(todo.id),
        "receipt": f"r-{settled}" if settled else None,
        "commit": todo.commit,
        "signed": todo.signed,
    }


def _mark(todo: Todo, beside: Beside) -> str:
    """How it stands: what runs shows first, then what waits for a person, then the rest."""
    if todo.state in ("done", "dropped"):
        return todo.state
    if todo.id in beside.running:
        return "proving" if todo.state == "proving" else "running"
    if todo.id in beside.asked:
        return "you"
    if todo.state == "proving":
        return "proving"
    return "waiting" if todo.state == "waiting" or _unmet(todo, beside) else "open"


def _unmet(todo: Todo, beside: Beside) -> list[str]:
    return [need for need in todo.needs if beside.needs.get(need) != "done"]


def _note(todo: Todo, mark: str, beside: Beside) -> Said:
    """What stands beside it, in which voice, and the time it names."""
    if mark == "done":
        return todo.proof or "not proved", "good" if serves_criterion(todo.proof) else "soft", None
    if mark == "you":
        return "waits for you", "accent", None
    if mark == "proving":
        reviewed = "is being reviewed" if todo.id in beside.running else "waits for a review"
        return reviewed if todo.review == "due" else "is being proved", "run", None
    if mark in ("running", "dropped"):
        return mark, "run" if mark == "running" else "soft", None
    unmet = _unmet(todo, beside)
    if todo.state == "waiting" and todo.wait:
        return _waits(todo.wait, beside.now)
    if unmet:
        more = f" and {len(unmet) - 1} more" if len(unmet) > 1 else ""
        dropped = beside.needs.get(unmet[0], "dropped") == "dropped"
        return f"needs {unmet[0]}{more}{', which was dropped' if dropped else ''}", "bad" if dropped else "soft", None
    if todo.stalls >= STALLED_TURNS:
        return f"stalled after {todo.stalls} turns", "bad", None
    if todo.failures:
        return f"failed {todo.failures} time{'' if todo.failures == 1 else 's'}", "soft", None
    return "open", "soft", None


def _waits(wait: str, now: int) -> Said:
    condition = parse_condition(wait)
    if condition.kind == "at":
        due = int(condition.argument)
        return ("waits until", "soft", due) if due > now else ("is due", "soft", None)
    return WAITS.get(condition.kind, f"waits for {condition.argument}"), "soft", None


def _who(named: Named, todo: Todo, held: Lease | None, beside: Beside) -> str:
    """Who works on it or claimed it; of a finished one who did it."""
    if todo.state == "done":
        return named.actor(todo.claimed_by or beside.doers.get(todo.id))
    if todo.id in beside.running:
        return named.actor(beside.running[todo.id][0])
    return named.actor(held.actor if held else todo.claimed_by if todo.state == "proving" else "")
