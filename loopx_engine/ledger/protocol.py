"""The Ledger protocol: what every store promises. The conformance suite takes the store as a parameter.

One command is one `immediate()` block: its changes and its receipts become durable together or not at all. A receipt that
was returned is on disk. Reads never write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from loopx_engine.model.reader import Reader
from loopx_engine.model.receipt import Change, Receipt
from loopx_engine.model.record import noun


@noun
class Entry:
    """What a command asks the journal to keep: the receipt without its place in the chain."""

    stream: str
    at: int
    actor: str
    turn: str = ""
    strength: str = ""
    command: str
    verb: str
    intent: str
    grant: str = ""
    undo: bool = False
    payload: dict[str, Any]


@noun
class Problem:
    """One thing `verify` or `rebuild` found: `where` names a receipt, record or file; `what` is a sentence."""

    where: str
    what: str


class Transaction(Reader, Protocol):
    """A writer's view: sees its own changes. Holds the writer lock; do no I/O of your own inside."""

    def next_id(self, kind: str) -> str:
        """The next id of a kind; never used twice, also not after an undo."""
        ...

    def apply(self, change: Change) -> None:
        """Writes one change, its counters and its search text. Raises `StateMoved` if `before` is not what is there."""
        ...

    def append(self, entry: Entry) -> Receipt:
        """Adds one receipt to its stream's chain. Raises `Refused` (`command_reused`) if the stream has the command id."""
        ...

    def receipts_of(self, command: str) -> list[Receipt]:
        """The receipts a command id has, in the order of their streams (empty: it was never run). With payloads."""
        ...


class Ledger(Protocol):
    """One ledger. Safe for threads: each thread has its own connection."""

    @property
    def id(self) -> str: ...
    @property
    def incarnation(self) -> int: ...

    def read(self) -> AbstractContextManager[Transaction]:
        """One consistent view. Only the `Reader` half and `receipts_of` may be called."""
        ...

    def immediate(self, streams: Sequence[str] = ("",), *, keep: bool = True) -> AbstractContextManager[Transaction]:
        """A write transaction. `keep=False` rolls back at the end (previews). Raises `TryAgain` (`busy`, `disk_full`)."""
        ...

    def renew(self, lease: str, epoch: int, expires: int) -> bool:
        """Moves the expiry of a held lease of this epoch, without a receipt; False if it is no longer held."""
        ...

    def receipts(self, *, after: int = 0, stream: str | None = None, limit: int = 1000) -> list[Receipt]:
        """Receipts with seq > `after`, oldest first: the change feed. Payloads included."""
        ...

    def last_receipts(self, *, stream: str | None = None, subject: str | None = None, limit: int = 50) -> list[Receipt]:
        """The newest receipts first, of a stream or of one subject's id."""
        ...

    def receipt(self, seq: int) -> Receipt | None: ...
    def last_seq(self) -> int: ...

    def wait_for_change(self, after: int, timeout: float, woken: int | None = None) -> bool:
        """Blocks until a receipt with seq > `after` exists (any process wrote it) or `timeout` seconds passed.

        `woken` is what `wakes()` said before the caller looked: a wake that came since ends the wait at once.
        """
        ...

    def wakes(self) -> int:
        """How often `wake_waiters` was called in this process."""
        ...

    def wake_waiters(self) -> None:
        """Lets every `wait_for_change` of this process return at once."""
        ...

    def search(self, text: str, *, goal: str | None = None, limit: int = 50) -> list[tuple[str, str, str, str]]:
        """(kind, id, goal, text) of records with these words, newest first."""
        ...

    def verify(self) -> list[Problem]:
        """Checks the file and every chain, payload digests included. Empty: sound."""
        ...

    def rebuild(self) -> list[Problem]:
        """Folds all receipts into a fresh ledger in memory and compares every record and counter. Writes nothing."""
        ...

    def backup(self, target: Path) -> Path:
        """A whole, checked copy at `target` (0600). Raises `Refused` (`exists`) rather than overwrite."""
        ...

    def export(self) -> Iterator[dict[str, Any]]:
        """Every receipt in order as JSON values."""
        ...

    def close(self) -> None: ...
