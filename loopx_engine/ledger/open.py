"""Opening a ledger: made where there is none and no trace of one, checked where there is, never silently replaced."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from loopx_engine.clock import Clock
from loopx_engine.errors import LedgerUnusable, Refused, UsageError
from loopx_engine.host.lock import exclusive
from loopx_engine.host.paths import private_folder
from loopx_engine.ledger.driver import connect
from loopx_engine.ledger.faults import damaged, translated
from loopx_engine.ledger.migrations import SCHEMA, migrate, refuse_newer, version_of
from loopx_engine.ledger.sqlite import MEMORY, WRITER_WAIT_S, SqliteLedger

HEADER = b"SQLite format 3\0"


def open_ledger(location: str | Path, *, clock: Clock | None = None, create: bool = True) -> SqliteLedger:
    """The ledger at a path or URL (`sqlite:///PATH`, `:memory:`).

    Raises `LedgerUnusable` (`ledger_damaged`, `newer_ledger`, `read_only`, `cannot_open`), `UsageError` (`bad_ledger`).
    """
    text = _path(str(location))
    if text == MEMORY:
        ledger = SqliteLedger(MEMORY)
        migrate(ledger.connection())
        return ledger
    path = Path(text).expanduser().absolute()
    if not path.exists():
        if not create:
            raise LedgerUnusable(f"there is no ledger at {path}", code="no_ledger", next="loopx owner init")
        _refuse_traces(path)
        return _made(path)
    return _existing(path)


def _path(text: str) -> str:
    if text.startswith("sqlite:///"):
        return text.removeprefix("sqlite:///")
    if "://" in text:
        raise UsageError(
            f"'{text.split('://')[0]}' ledgers are not built yet; expected a path or sqlite:///PATH",
            code="bad_ledger",
            next="unset LOOPX_LEDGER",
        )
    if not text or "\0" in text:
        raise UsageError("LOOPX_LEDGER is no path", code="bad_ledger", next="unset LOOPX_LEDGER")
    return text


def _refuse_traces(path: Path) -> None:
    """A ledger that is gone while its log is still there is no empty ledger."""
    for trace in (path.with_name(path.name + "-wal"), path.with_name(path.name + "-journal")):
        if trace.exists() and trace.stat().st_size:
            raise LedgerUnusable(
                f"{path.name} is gone but {trace.name} is there; nothing was made in its place",
                code="ledger_damaged",
                next="loopx restore BACKUP",
            )


def _made(path: Path) -> SqliteLedger:
    private_folder(path.parent)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise LedgerUnusable(
            f"{path.parent} is not writable", code="read_only", next="set LOOPX_HOME to a writable folder"
        )
    with exclusive(path.with_name(path.name + ".lock"), WRITER_WAIT_S), translated():
        before = os.umask(0o077)
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = connect(str(path))
            connection.execute("pragma journal_mode = wal").fetchall()
            migrate(connection)
            connection.close()
        finally:
            os.umask(before)
    return SqliteLedger(str(path))


def _existing(path: Path) -> SqliteLedger:
    _check_header(path)
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)
    uri = "" if writable else _read_only_uri(path)
    ledger = SqliteLedger(str(path), writable=writable, uri=uri)
    with translated():
        connection = ledger.connection()
        version = version_of(connection)
        refuse_newer(version)
        if version < SCHEMA:
            if not writable:
                raise LedgerUnusable(
                    "the ledger must be migrated but can only be read", code="read_only", next="loopx doctor"
                )
            with exclusive(ledger.lock_path, WRITER_WAIT_S):
                _migrate(path, connection)
    return ledger


def _migrate(path: Path, connection: Any) -> None:
    """A file that another start is making right now, or an older schema; the older one is copied first."""
    version = version_of(connection)
    if 0 < version < SCHEMA:
        from loopx_engine.ledger.backup import copy_file

        kept = path.with_name(f"{path.name}.schema-{version}")
        if not kept.exists():
            copy_file(path, kept)
    if version == 0 and connection.execute("select count(*) from sqlite_master").fetchone()[0]:
        raise damaged("it is not a LoopX ledger")
    connection.execute("pragma journal_mode = wal").fetchall()
    migrate(connection)


def _check_header(path: Path) -> None:
    """A file that exists but is no ledger is never treated as an empty one."""
    if not path.is_file():
        raise Refused(f"{path} is no file", code="cannot_open", next="unset LOOPX_LEDGER")
    try:
        with path.open("rb") as file:
            head = file.read(len(HEADER))
    except OSError as error:
        raise LedgerUnusable(
            f"{path.name} cannot be read: {error.strerror}", code="cannot_open", next="loopx doctor"
        ) from error
    if head == HEADER:
        return
    if head or _has_history(path):
        raise damaged("its first bytes are not those of a database" if head else "it is empty")
    _made(path).close()


def _has_history(path: Path) -> bool:
    """Whether an empty file stands where a ledger was: a log, a backup or a place beside it."""
    log = path.with_name(path.name + "-wal")
    folders = (path.parent / name for name in ("backups", "transcripts", "places", "logs"))
    return (log.exists() and log.stat().st_size > 0) or any(
        folder.is_dir() and any(folder.iterdir()) for folder in folders
    )


def _read_only_uri(path: Path) -> str:
    """`immutable` only where no log is left: else it would silently show an old state."""
    from urllib.parse import quote

    log = path.with_name(path.name + "-wal")
    immutable = "" if log.exists() and log.stat().st_size else "&immutable=1"
    return f"file:{quote(str(path))}?mode=ro{immutable}"
