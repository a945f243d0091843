"""Draft: one command's view of the ledger with its own changes on top. It turns into the receipt's list of changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loopx_engine.errors import NotFound
from loopx_engine.model.ids import expect
from loopx_engine.model.reader import Reader
from loopx_engine.model.receipt import Change
from loopx_engine.model.record import R, Record, Row, values
from loopx_engine.model.states import MACHINES, check_move


class Draft:
    """Reads pass through to `reader`; `put` and `create` stay here until the transaction applies `changes()`."""

    def __init__(self, reader: Reader, next_id: Callable[[str], str]) -> None:
        self._reader = reader
        self._next_id = next_id
        self._before: dict[tuple[str, str], Record | None] = {}
        self._after: dict[tuple[str, str], Record] = {}
        self.grant = ""

    def get(self, cls: type[R], identifier: str) -> R | None:
        """The record as this command left it, or as the ledger has it, or None."""
        pending = self._after.get((cls.KIND, identifier))
        return pending if pending is not None else self._reader.get(cls, identifier)  # type: ignore[return-value]

    def need(self, cls: type[R], identifier: str) -> R:
        """The record. Raises `NotFound` and `UsageError` (not an id of this kind)."""
        from loopx_engine.model.ids import PREFIX

        if cls.KIND in PREFIX:
            expect(identifier, cls.KIND)
        found = self.get(cls, identifier)
        if found is None:
            raise NotFound(f"there is no {cls.KIND} {identifier}", next=f"loopx list {cls.KIND}")
        return found

    def records(self, cls: type[R], statement: str, /, **parameters: Any) -> list[R]:
        """The statement's records, each as this command left it (what this command created is not among them)."""
        found = self._reader.records(cls, statement, **parameters)
        return [self._after.get((cls.KIND, record.id), record) for record in found]  # type: ignore[misc]

    def created(self, cls: type[R]) -> list[R]:
        """The records of this kind that this command made."""
        return [
            record  # type: ignore[misc]
            for key, record in self._after.items()
            if key[0] == cls.KIND and self._before[key] is None
        ]

    def rows(self, statement: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        return self._reader.rows(statement, **parameters)

    def counter(self, goal: str, name: str) -> int:
        return self._reader.counter(goal, name)

    def new_id(self, kind: str) -> str:
        return self._next_id(kind)

    def create(self, record: R) -> R:
        """Adds a new record."""
        key = (record.KIND, record.id)
        self._before.setdefault(key, None)
        self._after[key] = record
        return record

    def put(self, record: R) -> R:
        """Replaces a record that exists. Refuses a move its state machine does not list."""
        key = (record.KIND, record.id)
        current = self.get(type(record), record.id)
        if current is None:
            return self.create(record)
        machine = MACHINES.get(record.KIND)
        if machine is not None:
            check_move(record.KIND, record.id, getattr(current, machine[0]), getattr(record, machine[0]))
        if key not in self._before:
            self._before[key] = current
        self._after[key] = record
        return record

    def cite(self, grant: str) -> None:
        """Names the grant under which this command needs no question."""
        self.grant = grant

    def touched(self) -> dict[tuple[str, str], Row | None]:
        """(kind, id) -> the row as it was (None for what is new): the subjects a basis digest binds to."""
        return {key: values(record) if record is not None else None for key, record in self._before.items()}

    def changes(self) -> list[Change]:
        """What differs, field by field, in the order things were first touched."""
        found: list[Change] = []
        for key, after in self._after.items():
            before = self._before[key]
            new = values(after)
            if before is None:
                found.append(Change(kind=key[0], id=key[1], before=None, after=new))
                continue
            old = values(before)
            fields = [name for name in new if new[name] != old[name]]
            if fields:
                found.append(
                    Change(
                        kind=key[0],
                        id=key[1],
                        before={name: old[name] for name in fields},
                        after={name: new[name] for name in fields},
                    )
                )
        return found

    def goal_of(self, change: Change) -> str:
        """The stream a change belongs to: its goal's id, or `""`."""
        return self._stream(change.kind, change.id)

    def moved(self) -> list[tuple[str, str]]:
        """(id, stream) of every record that differs: `changes()` without the fields."""
        return [
            (identifier, self._stream(kind, identifier))
            for (kind, identifier), after in self._after.items()
            if after != self._before[(kind, identifier)]
        ]

    def _stream(self, kind: str, identifier: str) -> str:
        if kind in ("goal", "wake"):
            return identifier
        return str(getattr(self._after[(kind, identifier)], "goal", "") or "")
