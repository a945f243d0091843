"""Named: what ids are called, each looked up once a read; what cannot be read is called by its id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.actor import Actor
from loopx_engine.model.goal import Goal
from loopx_engine.model.project import Project
from loopx_engine.model.todo import Todo
from loopx_engine.reading.sound import peek


class Named:
    """The names of actors and projects and the titles of goals and todos, as one reader sees them."""

    def __init__(self, reader: Transaction) -> None:
        self._reader = reader
        self._known: dict[str, str] = {}

    def actor(self, identifier: str | None) -> str:
        return self._of(Actor, identifier, "name")

    def goal(self, identifier: str | None) -> str:
        return self._of(Goal, identifier, "title")

    def todo(self, identifier: str | None) -> str:
        return self._of(Todo, identifier, "title")

    def project(self, identifier: str | None) -> str:
        return self._of(Project, identifier, "name")

    def actors(self, ids: Iterable[str | None]) -> dict[str, str]:
        """Id -> name of those ids that are actors."""
        return {name: self.actor(name) for name in sorted({item for item in ids if item and item.startswith("a-")})}

    def _of(self, cls: Any, identifier: str | None, field: str) -> str:
        if not identifier:
            return ""
        if identifier not in self._known:
            record = peek(self._reader, cls, identifier)
            self._known[identifier] = str(getattr(record, field)) if record is not None else identifier
        return self._known[identifier]
