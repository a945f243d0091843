"""`show` and `list`: records as JSON values, with what belongs to them."""

from __future__ import annotations

from typing import Any

from loopx_engine.errors import NotFound, UsageError
from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.ids import expect, kind_of, number_of
from loopx_engine.model.lease import Lease
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.reading.classes import CLASSES, LISTS, WHOLE
from loopx_engine.reading.journal import receipt_row
from loopx_engine.reading.view import GOALS, ROWS, View, bounded, names_of, row_of

PEOPLE = (
    "actor",
    "created_by",
    "added_by",
    "asked_by",
    "set_by",
    "made_by",
    "verified_by",
    "claimed_by",
    "author",
    "to",
    "giver",
)


def show(view: View, id: str) -> dict[str, Any]:
    """One record by its id, with what belongs to it and the names of who is mentioned."""
    kind = kind_of(id)
    if kind == "receipt":
        receipt = view.engine.ledger.receipt(number_of(id))
        if receipt is None:
            raise NotFound(f"there is no receipt {id}", next="loopx history")
        with view.engine.read() as reader:
            view.need(reader, receipt.stream)
            return {
                "kind": kind,
                "item": receipt_row(receipt, reader),
                "related": {},
                "names": names_of(reader, [receipt.actor]),
            }
    with view.engine.read() as reader:
        cls = CLASSES.get(kind)
        record = reader.get(cls, id) if cls is not None else None
        if record is None:
            raise NotFound(f"there is no {kind} {id}", next=f"loopx list {kind}")
        view.need(reader, record.id if kind == "goal" else getattr(record, "goal", "") or "")
        related = _related(view, reader, kind, record)
        people = [
            *_people(record),
            *(name for rows in related.values() if isinstance(rows, list) for name in _mentioned(rows)),
        ]
        return {"kind": kind, "item": row_of(record), "related": related, "names": names_of(reader, people)}


def list_records(view: View, noun: str, goal: str = "", limit: int = ROWS) -> dict[str, Any]:
    """The records of a kind, at most `limit`, newest first or first in order first."""
    if noun == "finding":
        from loopx_engine.reading.findings import findings

        return {"kind": noun, "items": findings(view)["items"][: bounded(limit)], "names": {}}
    if noun not in LISTS:
        known = ", ".join(sorted([*LISTS, "finding"]))
        raise UsageError(
            f"'{noun[:40]}' is no noun; expected one of {known}", code="unknown_noun", next="loopx list goal"
        )
    statement, of_goal = LISTS[noun]
    extra = {} if statement in WHOLE else {"limit": bounded(limit)}
    with view.engine.read() as reader:
        if of_goal:
            rows = []
            for name in _goals(view, reader, goal):
                rows.extend(reader.records(CLASSES[noun], statement, goal=name, **extra))
        else:
            rows = reader.records(CLASSES[noun], statement, **extra)
            if view.agent:
                rows = [
                    row
                    for row in rows
                    if view.sees(reader, row.id if noun == "goal" else getattr(row, "goal", "") or "")
                ]
            if goal:
                rows = [row for row in rows if getattr(row, "goal", row.id) == expect(goal, "goal")]
        shown = [row_of(row) for row in rows[: bounded(limit)]]
        return {"kind": noun, "items": shown, "names": names_of(reader, [n for row in rows for n in _people(row)])}


def _goals(view: View, reader: Transaction, goal: str) -> list[str]:
    if goal:
        if reader.get(Goal, expect(goal, "goal")) is None:
            raise NotFound(f"there is no goal {goal}", next="loopx list goal")
        view.need(reader, goal)
        return [goal]
    if view.who.goal:
        return [view.who.goal]
    found = [item.id for item in reader.records(Goal, "goal.all", limit=GOALS) if item.phase != "archived"]
    return [name for name in found if view.sees(reader, name)]


def _people(record: Any) -> list[str]:
    found = [getattr(record, name) for name in PEOPLE if getattr(record, name, None)]
    return [*found, *getattr(record, "agents", ()), *getattr(record, "reviewers", ()), *getattr(record, "excluded", ())]


def _mentioned(rows: list[Any]) -> list[str]:
    return [str(row[name]) for row in rows if isinstance(row, dict) for name in PEOPLE if row.get(name)]


def _related(view: View, reader: Transaction, kind: str, record: Any) -> dict[str, Any]:
    if kind == "goal":
        return _of_goal(reader, record)
    if kind == "todo":
        return _of_todo(view, reader, record)
    if kind in ("decision", "grant"):
        return {"signature": _signature(view, reader, kind, record)}
    return {}


def _of_goal(reader: Transaction, goal: Goal) -> dict[str, Any]:
    return {
        "criteria": [row_of(item) for item in reader.records(Criterion, "criterion.of_goal", goal=goal.id)],
        "todos": [row_of(item) for item in reader.records(Todo, "todo.of_goal", goal=goal.id, limit=ROWS)],
        "decisions": [row_of(item) for item in reader.records(Decision, "decision.open", goal=goal.id)],
        "places": [row_of(item) for item in reader.records(Place, "place.of_goal", goal=goal.id)],
        "todo_count": reader.counter(goal.id, "todo"),
    }


def _of_todo(view: View, reader: Transaction, todo: Todo) -> dict[str, Any]:
    check = reader.get(Check, todo.check) if todo.check else None
    lease = reader.get(Lease, todo.id)
    return {
        "check": row_of(check) if check else None,
        "lease": row_of(lease) if lease and lease.live(view.now) else None,
        "evidence": [row_of(item) for item in reader.records(Evidence, "evidence.of_todo", todo=todo.id, limit=10)],
        "turns": [row_of(item) for item in reader.records(Turn, "turn.of_todo", todo=todo.id, limit=10)],
    }


def _signature(view: View, reader: Transaction, kind: str, record: Any) -> str | None:
    if kind == "decision" and not record.answer:
        return None
    why = view.engine.trust_of(reader).why_not(record)
    return "verified" if why is None else f"void: {why}"
