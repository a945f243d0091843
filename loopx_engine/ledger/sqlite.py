"""The SQLite ledger: WAL, one fair writer at a time, one connection a thread, FULL durability for every receipt."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from loopx_engine.errors import LedgerUnusable, TryAgain
from loopx_engine.host.lock import exclusive
from loopx_engine.ledger.driver import CHECKPOINT_BYTES, connect, sqlite3
from loopx_engine.ledger.faults import read_only, translated
from loopx_engine.ledger.feed import Feed
from loopx_engine.ledger.protocol import Problem
from loopx_engine.ledger.search import match
from loopx_engine.ledger.statements import statement
from loopx_engine.ledger.transaction import SqliteTransaction
from loopx_engine.model.receipt import Receipt

WRITER_WAIT_S = 10.0
MEMORY = ":memory:"


class SqliteLedger:
    """The `Ledger` of `protocol.py`. Opened by `open.open_ledger`, which made or checked the file."""

    def __init__(self, location: str, *, writable: bool = True, uri: str = "") -> None:
        self.location = location
        self.writable = writable
        self._uri = uri
        self._local = threading.local()
        self._open: list[tuple[threading.Thread, Any]] = []
        self._gate = threading.Lock()
        self._list_lock = threading.Lock()
        self._memory = connect(MEMORY, shared=True) if location == MEMORY else None
        self._memory_lock = threading.RLock()
        self._feed = Feed(self)
        self._identity: tuple[str, int] | None = None

    # -- identity -------------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return self._known()[0]

    @property
    def incarnation(self) -> int:
        return self._known()[1]

    @property
    def in_memory(self) -> bool:
        return self._memory is not None

    @property
    def lock_path(self) -> Path:
        return Path(self.location + ".lock")

    def _known(self) -> tuple[str, int]:
        if self._identity is None:
            with self.read() as reader:
                found = {key: reader.rows("ledger.meta", key=key) for key in ("id", "incarnation")}
            if not found["id"] or not found["incarnation"]:
                raise LedgerUnusable("the ledger has no identity", code="ledger_damaged", next="loopx restore BACKUP")
            self._identity = (str(found["id"][0][0]), int(found["incarnation"][0][0]))
        return self._identity

    # -- views ----------------------------------------------------------------------------------------------------

    def connection(self) -> Any:
        """This thread's connection."""
        if self._memory is not None:
            return self._memory
        found = getattr(self._local, "connection", None)
        if found is None:
            with translated():
                found = connect(self._uri or self.location, uri=bool(self._uri), shared=True)
            self._local.connection = found
            with self._list_lock:
                self._close_left()
                self._open.append((threading.current_thread(), found))
        return found

    def _close_left(self) -> None:
        """Closes the connections of threads that ended: an engine that runs for days keeps none of them."""
        left = [kept for owner, kept in self._open if not owner.is_alive()]
        self._open = [(owner, kept) for owner, kept in self._open if owner.is_alive()]
        for kept in left:
            kept.close()

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        connection = self.connection()
        if connection.in_transaction:
            yield SqliteTransaction(connection, writing=False)
            return
        with self._exclusive_memory(), translated():
            connection.execute("begin")
            try:
                yield SqliteTransaction(connection, writing=False)
            finally:
                if connection.in_transaction:
                    connection.execute("rollback")

    @contextmanager
    def immediate(self, streams: Sequence[str] = ("",), *, keep: bool = True) -> Iterator[SqliteTransaction]:
        if not self.writable:
            raise read_only()
        with self._exclusive_memory(), self._writer():
            connection = self.connection()
            with translated():
                connection.execute("begin immediate")
                try:
                    yield SqliteTransaction(connection, writing=True)
                    connection.execute("commit" if keep else "rollback")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("rollback")
                    raise
                self._checkpoint(connection)
        if keep:
            self._feed.notify()

    @contextmanager
    def _writer(self) -> Iterator[None]:
        """The fair gate: one writer at a time on this machine, threads of this process first in line among themselves."""
        if self._memory is not None:
            yield
            return
        if not self._gate.acquire(timeout=WRITER_WAIT_S):
            raise TryAgain("another thread has been writing for too long", code="busy", next="try again in a moment")
        try:
            with exclusive(self.lock_path, WRITER_WAIT_S):
                yield
        finally:
            self._gate.release()

    @contextmanager
    def _exclusive_memory(self) -> Iterator[None]:
        if self._memory is None:
            yield
            return
        with self._memory_lock:
            yield

    def _checkpoint(self, connection: Any) -> None:
        """Only the holder of the writer lock checkpoints, and only a grown log."""
        if self._memory is not None:
            return
        with suppress(OSError, sqlite3.Error):
            if os.stat(self.location + "-wal").st_size > CHECKPOINT_BYTES:
                connection.execute("pragma wal_checkpoint(truncate)").fetchall()

    # -- small writes and reads -------------------------------------------------------------------------------------

    def renew(self, lease: str, epoch: int, expires: int) -> bool:
        if not self.writable:
            raise read_only()
        with self._exclusive_memory(), self._writer(), translated():
            connection = self.connection()
            connection.execute("pragma synchronous = normal")
            try:
                given = {"id": lease, "epoch": epoch, "expires": expires}
                return int(connection.execute(statement("ledger.renew"), given).rowcount) == 1
            finally:
                connection.execute("pragma synchronous = full")

    def receipts(self, *, after: int = 0, stream: str | None = None, limit: int = 1000) -> list[Receipt]:
        with self.read() as reader:
            if stream is None:
                return reader.receipts("receipt.after", after=after, limit=limit)
            return reader.receipts("receipt.after_in_stream", after=after, stream=stream, limit=limit)

    def last_receipts(self, *, stream: str | None = None, subject: str | None = None, limit: int = 50) -> list[Receipt]:
        with self.read() as reader:
            if subject is not None:
                return reader.receipts("receipt.last_of_subject", subject=subject, limit=limit)
            if stream is not None:
                return reader.receipts("receipt.last_in_stream", stream=stream, limit=limit)
            return reader.receipts("receipt.last", limit=limit)

    def receipt(self, seq: int) -> Receipt | None:
        with self.read() as reader:
            found = reader.receipts("receipt.one", seq=seq)
        return found[0] if found else None

    def last_seq(self) -> int:
        with self.read() as reader:
            return int(reader.rows("receipt.top")[0][0] or 0)

    def search(self, text: str, *, goal: str | None = None, limit: int = 50) -> list[tuple[str, str, str, str]]:
        with self.read() as reader:
            if goal is None:
                found = reader.rows("ledger.search", match=match(text), limit=limit)
            else:
                found = reader.rows("ledger.search_goal", match=match(text), goal=goal, limit=limit)
        return [(str(kind), str(name), str(of), str(words)) for kind, name, of, words in found]

    # -- change feed ------------------------------------------------------------------------------------------------

    def wait_for_change(self, after: int, timeout: float, woken: int | None = None) -> bool:
        return self._feed.wait(after, timeout, woken)

    def wakes(self) -> int:
        return self._feed.wakes()

    def wake_waiters(self) -> None:
        self._feed.wake()

    # -- keeping ----------------------------------------------------------------------------------------------------

    def verify(self) -> list[Problem]:
        from loopx_engine.ledger.verify import verify

        return verify(self)

    def rebuild(self) -> list[Problem]:
        from loopx_engine.ledger.rebuild import rebuild

        return rebuild(self)

    def backup(self, target: Path) -> Path:
        from loopx_engine.ledger.backup import backup

        return backup(self, target)

    def export(self) -> Iterator[dict[str, Any]]:
        from loopx_engine.model.record import values

        after = 0
        while batch := self.receipts(after=after):
            for receipt in batch:
                yield {**values(receipt), "payload": receipt.payload}
            after = batch[-1].seq

    def close(self) -> None:
        """Closes every connection; the last one checkpoints under the writer lock."""
        self._feed.wake()
        if self._memory is not None:
            self._memory.close()
            return
        if not self.writable:
            self._close_all()
            return
        with self._writer():
            self._close_all()

    def _close_all(self) -> None:
        with self._list_lock:
            while self._open:
                self._open.pop()[1].close()
        self._local = threading.local()
