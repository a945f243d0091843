"""`history` and `search`: the newest receipts, and the records that have these words."""

from __future__ import annotations

from typing import Any

from loopx_engine.errors import NotFound, UsageError
from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.actor import Actor
from loopx_engine.model.goal import Goal
from loopx_engine.model.ids import kind_of, number_of
from loopx_engine.model.receipt import Receipt
from loopx_engine.model.record import values
from loopx_engine.reading.view import ROWS, SECRET_FIELDS, View, bounded, names_of


def history(view: View, id: str = "", limit: int = ROWS) -> dict[str, Any]:
    """The newest receipts: of a goal, of anything with an id, or of the whole ledger (an agent: of its goal)."""
    subject = id or (view.who.goal or "" if view.agent else "")
    ledger = view.engine.ledger
    if subject and kind_of(subject) == "receipt":
        one = ledger.receipt(number_of(subject))
        found = [one] if one else []
    elif subject and kind_of(subject) == "goal":
        found = ledger.last_receipts(stream=subject, limit=bounded(limit))
    else:
        found = ledger.last_receipts(subject=subject or None, limit=bounded(limit))
    with view.engine.read() as reader:
        if subject and not found and not (kind_of(subject) == "goal" and reader.get(Goal, subject)):
            raise NotFound(f"there is no {kind_of(subject)} {subject}", next="loopx history")
        if subject and kind_of(subject) == "goal":
            view.need(reader, subject)
        seen = [item for item in found if view.sees(reader, item.stream)]
        rows = [receipt_row(item, reader) for item in seen]
        return {"id": id or None, "items": rows, "names": names_of(reader, [item.actor for item in seen])}


def search(view: View, text: str, limit: int = ROWS) -> dict[str, Any]:
    """Records with these words, newest first."""
    if not text.replace("\0", " ").strip():
        raise UsageError("search for at least one word", code="empty", next="loopx search --help")
    found = view.engine.ledger.search(text, goal=view.who.goal, limit=bounded(limit))
    with view.engine.read() as reader:
        seen = [row for row in found if view.sees(reader, row[2])]
    return {
        "text": text,
        "items": [{"kind": kind, "id": name, "goal": goal, "text": said} for kind, name, goal, said in seen],
    }


def receipt_row(receipt: Receipt, reader: Transaction) -> dict[str, Any]:
    """A receipt as JSON values, its payload opened; `unverified` is a person's word that no key signed."""
    row = {name: value for name, value in values(receipt).items() if name != "payload"}
    payload = receipt.payload or {}
    changes = [
        {**change, "before": _plain(change.get("before")), "after": _plain(change.get("after"))}
        for change in payload.get("changes", [])
    ]
    return {
        "id": receipt.id,
        **row,
        "unverified": not receipt.strength and _person(reader, receipt.actor),
        "arguments": payload.get("arguments"),
        "changes": changes,
        "answer": payload.get("answer"),
    }


def _person(reader: Transaction, name: str) -> bool:
    actor = reader.get(Actor, name)
    return actor is not None and actor.kind in ("person", "channel")


def _plain(row: Any) -> Any:
    return {name: value for name, value in row.items() if name not in SECRET_FIELDS} if isinstance(row, dict) else row
