"""`why`: the obstacle of a todo, the verdict of a goal, what stands behind anything else, and its last receipts."""

from __future__ import annotations

from typing import Any

from loopx_engine.errors import NotFound
from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.goal import Goal
from loopx_engine.model.ids import kind_of
from loopx_engine.model.lease import Lease
from loopx_engine.model.todo import Todo
from loopx_engine.reading.classes import CLASSES
from loopx_engine.reading.journal import receipt_row
from loopx_engine.reading.ruling import next_verdict
from loopx_engine.reading.view import View, names_of, row_of
from loopx_engine.rules.take import obstacle

RECEIPTS = 5
SAYS = ("reason", "outcome", "detail", "stale_reason")


def why(view: View, id: str) -> dict[str, Any]:
    """Why something is where it is, in sentences, for the view's actor."""
    kind = kind_of(id)
    with view.engine.read() as reader:
        cls = CLASSES.get(kind)
        record = reader.get(cls, id) if cls is not None else None
        if record is None:
            raise NotFound(f"there is no {kind} {id}", next=f"loopx list {kind if kind in CLASSES else 'goal'}")
        goal = id if kind == "goal" else getattr(record, "goal", "") or ""
        view.need(reader, goal)
        lease = reader.get(Lease, id)
        actor = _actor(view, reader, goal)
    if isinstance(record, Todo):
        reasons = [_of_todo(view, record, actor)]
    elif isinstance(record, Goal):
        reasons = [next_verdict(view, goal=record.id)["text"]]
    else:
        reasons = _of_record(kind, record)
    receipts = view.engine.ledger.last_receipts(subject=id, limit=RECEIPTS)
    held = lease if lease is not None and lease.live(view.now) else None
    with view.engine.read() as reader:
        rows = [receipt_row(item, reader) for item in receipts]
        names = names_of(reader, [*(item.actor for item in receipts), held.actor if held else ""])
    return {
        "id": id,
        "reasons": reasons,
        "lease": row_of(held) if held is not None else None,
        "receipts": rows,
        "names": names,
    }


def _actor(view: View, reader: Transaction, goal: str) -> str:
    if view.actor:
        return view.actor
    found = reader.get(Goal, goal) if goal else None
    if found is not None and found.agents:
        return found.agents[0]
    from loopx_engine.model.actor import Actor

    agents = reader.records(Actor, "actor.agents")
    return agents[0].id if agents else view.who.actor


def _of_todo(view: View, todo: Todo, actor: str) -> str:
    snapshot = view.engine.snapshot(todo.goal, actor)
    if snapshot.actor is None or todo.state not in ("open", "waiting", "proving"):
        return f"it is {todo.state}" + (f", {todo.proof}" if todo.proof else "")
    found = obstacle(todo, snapshot, snapshot.actor, view.now)
    return found.text if found else f"{snapshot.actor.name} may take it now"


def _of_record(kind: str, record: Any) -> list[str]:
    state = getattr(record, "state", "") or getattr(record, "phase", "")
    said = [str(getattr(record, name)).strip() for name in SAYS if getattr(record, name, "")]
    return [f"it is {state}" if state else f"it is a {kind}", *said]
