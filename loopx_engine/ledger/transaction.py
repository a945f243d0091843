"""One view of the ledger on one connection: reads by statement, and, where it may write, changes and receipts."""

from __future__ import annotations

from typing import Any

from loopx_engine.errors import Fault, NotFound, Refused, StateMoved
from loopx_engine.ledger.counters import counter_deltas
from loopx_engine.ledger.journal import receipt_of, seal
from loopx_engine.ledger.protocol import Entry
from loopx_engine.ledger.search import touches, words_of
from loopx_engine.ledger.statements import statement
from loopx_engine.ledger.tables import column_names, insert_row, record_of, row_values, select_one, update_row
from loopx_engine.model.ids import make
from loopx_engine.model.receipt import Change, Receipt
from loopx_engine.model.record import R, Row, values


class SqliteTransaction:
    """The `Transaction` of `protocol.py`. A reading one refuses to write."""

    def __init__(self, connection: Any, *, writing: bool) -> None:
        self._connection = connection
        self._writing = writing

    # -- reading --------------------------------------------------------------------------------------------------

    def get(self, cls: type[R], identifier: str) -> R | None:
        row = self._connection.execute(select_one(cls.KIND), (identifier,)).fetchone()
        return record_of(cls, column_names(cls.KIND), row) if row is not None else None

    def records(self, cls: type[R], named: str, /, **parameters: Any) -> list[R]:
        cursor = self._connection.execute(statement(named), parameters)
        names = tuple(item[0] for item in cursor.description)
        return [record_of(cls, names, row) for row in cursor.fetchall()]

    def rows(self, named: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._connection.execute(statement(named), parameters).fetchall()
        return found

    def counter(self, goal: str, name: str) -> int:
        found = self.rows("ledger.counter", goal=goal, name=name)
        return int(found[0][0]) if found else 0

    def receipts_of(self, command: str) -> list[Receipt]:
        return self.receipts("receipt.of_command", command=command)

    def receipts(self, named: str, /, **parameters: Any) -> list[Receipt]:
        """Receipts a statement selects, with payloads and their place in the chain."""
        return [receipt_of(self, row) for row in self.rows(named, **parameters)]

    # -- writing --------------------------------------------------------------------------------------------------

    def next_id(self, kind: str) -> str:
        self._may_write()
        return make(kind, int(self.rows("ledger.next", kind=kind)[0][0]))

    def apply(self, change: Change) -> None:
        self._may_write()
        before, after = self._write(change)
        for (goal, name), delta in counter_deltas(change.kind, before, after).items():
            self._connection.execute(statement("ledger.count"), {"goal": goal, "name": name, "delta": delta})
        if change.after is None or change.before is None or touches(change.kind, change.after):
            self._index(change, after)

    def append(self, entry: Entry) -> Receipt:
        self._may_write()
        if any(item.stream == entry.stream for item in self.receipts_of(entry.command)):
            raise Refused(
                f"the command id {entry.command} was used already", code="command_reused", next="loopx history"
            )
        seq = int(self.rows("receipt.top")[0][0] or 0) + 1
        last = self.rows("receipt.last_of_stream", stream=entry.stream)
        receipt, row, body = seal(entry, seq, int(last[0][0]) if last else 0, bytes(last[0][1]) if last else None)
        self._connection.execute(statement("receipt.add"), row)
        self._connection.execute(statement("receipt.add_payload"), {"seq": seq, "body": body})
        for subject in dict.fromkeys(item["id"] for item in entry.payload.get("changes", ()) if item["kind"] != "wake"):
            self._connection.execute(statement("receipt.touch"), {"subject": subject, "seq": seq})
        return receipt

    def _write(self, change: Change) -> tuple[Row | None, Row | None]:
        """Writes the row and returns it whole, before and after."""
        if change.before is None and change.after is not None:
            self._connection.execute(insert_row(change.kind), row_values(change.kind, change.after))
            return None, change.after
        current = self._whole(change)
        if change.after is None:
            raise Fault(f"{change.id}: nothing is ever removed from the ledger")
        sql, given = update_row(change.kind, change.id, change.before or {}, change.after)
        if self._connection.execute(sql, given).rowcount != 1:
            raise StateMoved(f"{change.id} has changed meanwhile", code="state_moved", next=f"loopx show {change.id}")
        return current, {**current, **change.after}

    def _whole(self, change: Change) -> Row:
        from loopx_engine.ledger.tables import class_of

        record = self.get(class_of(change.kind), change.id)
        if record is None:
            raise NotFound(f"there is no {change.kind} {change.id}", next=f"loopx list {change.kind}")
        return values(record)

    def _index(self, change: Change, after: Row | None) -> None:
        words = words_of(change.kind, after) if after is not None else ""
        if change.before is not None:
            self._connection.execute(statement("ledger.drop_words"), {"id": change.id})
        if words and after is not None:
            goal = change.id if change.kind == "goal" else str(after.get("goal") or "")
            self._connection.execute(
                statement("ledger.index_words"), {"kind": change.kind, "id": change.id, "goal": goal, "words": words}
            )

    def _may_write(self) -> None:
        if not self._writing:
            raise Fault("a reading view was asked to write")
