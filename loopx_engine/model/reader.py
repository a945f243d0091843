"""Reader: how rules and commands look at the ledger. A protocol of values; every store and every draft is one."""

from __future__ import annotations

from typing import Any, Protocol

from loopx_engine.model.record import R


class Reader(Protocol):
    """Reads inside one consistent view. `statement` is the name of a statement in `ledger/sql` (`todo.unfinished`)."""

    def get(self, cls: type[R], identifier: str) -> R | None:
        """The record with this id, or None."""
        ...

    def records(self, cls: type[R], statement: str, /, **parameters: Any) -> list[R]:
        """The records a named statement selects (it selects whole rows of that noun's table, in its own order)."""
        ...

    def rows(self, statement: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a named statement that selects something else."""
        ...

    def counter(self, goal: str, name: str) -> int:
        """One kept number (`todo.open`, `turn`, ...); 0 where nothing was counted yet."""
        ...
