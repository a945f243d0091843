"""A ledger with a long history, made quickly: valid receipts written in bulk, each with its todo, chain, payload and words.

What is written is what `todo add` would leave (without its wake); `verify` and `rebuild` find nothing wrong with it.
"""

from __future__ import annotations

from typing import Any

from benchmarks._writers import GOAL, NO_INTENT, new_todo
from loopx_engine.ledger.journal import seal
from loopx_engine.ledger.protocol import Entry
from loopx_engine.ledger.search import words_of
from loopx_engine.ledger.sqlite import SqliteLedger
from loopx_engine.ledger.statements import quoted, statement
from loopx_engine.ledger.tables import insert_row, row_values
from loopx_engine.model.receipt import Receipt
from loopx_engine.model.record import values

BATCH = 20_000


def lengthen(ledger: SqliteLedger, receipts: int) -> None:
    """Adds todos to goal g-1, every second one done, until the ledger has `receipts` receipts. Not durable while it runs."""
    connection = ledger.connection()
    connection.execute("pragma synchronous = off")
    while (left := receipts - ledger.last_seq()) > 0:
        connection.execute("begin immediate")
        _batch(connection, min(left, BATCH))
        connection.execute("commit")
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    connection.execute("pragma synchronous = full")


def _batch(connection: Any, count: int) -> None:
    top = int(connection.execute(statement("receipt.top")).fetchone()[0] or 0)
    last = connection.execute(statement("receipt.last_of_stream"), {"stream": GOAL}).fetchone()
    number, previous = (int(last[0]), bytes(last[1])) if last else (0, None)
    known = connection.execute("select last from sequence where kind = 'todo'").fetchone()
    first = (int(known[0]) if known else 0) + 1
    rows: dict[str, list[Any]] = {name: [] for name in ("todo", "receipt", "payload", "touched", "words")}
    done = 0
    for at in range(count):
        name = f"t-{first + at}"
        state = "done" if at % 2 else "open"
        done += state == "done"
        row = values(new_todo(name, state, rank=(first + at) * 1024))
        receipt, stored, body = _sealed(row, top + 1 + at, number + 1 + at, previous)
        previous = bytes.fromhex(receipt.hash)
        rows["todo"].append(row_values("todo", row))
        rows["receipt"].append(stored)
        rows["payload"].append({"seq": receipt.seq, "body": body})
        rows["touched"].append({"subject": name, "seq": receipt.seq})
        rows["words"].append({"kind": "todo", "id": name, "goal": GOAL, "words": words_of("todo", row)})
    connection.executemany(insert_row("todo"), rows["todo"])
    connection.executemany(statement("receipt.add"), rows["receipt"])
    connection.executemany(statement("receipt.add_payload"), rows["payload"])
    connection.executemany(statement("receipt.touch"), rows["touched"])
    connection.executemany(statement("ledger.index_words"), rows["words"])
    _count(connection, {"todo": count, "todo.done": done, "todo.open": count - done})
    connection.execute(
        f"insert into {quoted('sequence')} (kind, last) values ('todo', ?) on conflict (kind) do update set last = excluded.last",
        (first + count - 1,),
    )


def _sealed(row: dict[str, Any], seq: int, number: int, previous: bytes | None) -> tuple[Receipt, dict[str, Any], str]:
    change = {"kind": "todo", "id": row["id"], "before": None, "after": row}
    payload = {"arguments": {}, "changes": [change], "answer": {"todo": row["id"]}}
    entry = Entry(
        stream=GOAL, at=1, actor="a-1", command=f"bulk-{seq}", verb="todo add", intent=NO_INTENT, payload=payload
    )
    return seal(entry, seq, number - 1, previous)


def _count(connection: Any, deltas: dict[str, int]) -> None:
    for goal in (GOAL, ""):
        for name, delta in deltas.items():
            connection.execute(statement("ledger.count"), {"goal": goal, "name": name, "delta": delta})
