"""Writes receipts into a ledger: the smallest true commands, for tests of the store and of its failures."""

from __future__ import annotations

import sys

from strategies import NOW, todo

from loopx_engine.ledger.open import open_ledger
from loopx_engine.ledger.protocol import Entry
from loopx_engine.ledger.sqlite import SqliteLedger
from loopx_engine.model.receipt import Change
from loopx_engine.model.record import values


def append_many(ledger: SqliteLedger, count: int, *, start: int = 1, body: str = "", stream: str = "g-1") -> list[int]:
    """`count` todos, each with its receipt in its own transaction. Returns the sequence numbers."""
    written = []
    for number in range(start, start + count):
        with ledger.immediate() as transaction:
            name = transaction.next_id("todo")
            change = Change(kind="todo", id=name, before=None, after=values(todo(name, body=body)))
            transaction.apply(change)
            payload = {"arguments": {}, "changes": [values(change)], "answer": {"todo": name}}
            entry = Entry(
                stream=stream, at=NOW + number, actor="a-1", command=f"{stream}-{number}-{name}", verb="todo add",
                intent="0" * 64, payload=payload,
            )  # fmt: skip
            written.append(transaction.append(entry).seq)
    return written


def main() -> None:
    """Writes for ever, printing each acknowledged sequence number: to be killed."""
    ledger = open_ledger(sys.argv[1])
    while True:
        print(append_many(ledger, 1, stream=sys.argv[2])[0], flush=True)


if __name__ == "__main__":
    main()
