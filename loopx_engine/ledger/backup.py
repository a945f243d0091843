"""Backup and restore: whole, checked copies by SQLite's own backup, never a copy of the files; nothing is overwritten."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopx_engine.errors import Refused
from loopx_engine.ledger.driver import connect
from loopx_engine.ledger.faults import damaged, translated
from loopx_engine.ledger.migrations import refuse_newer, version_of
from loopx_engine.ledger.statements import statement

if TYPE_CHECKING:
    from loopx_engine.ledger.sqlite import SqliteLedger


def backup(ledger: SqliteLedger, target: Path) -> Path:
    """A copy of the ledger as it is now, its file and chains checked. Refuses (`exists`) to overwrite."""
    _copy(ledger.connection(), target)
    _check(target)
    return target


def copy_file(source: Path, target: Path) -> Path:
    """A copy of a ledger that is not open, before a migration."""
    with translated():
        connection = connect(str(source))
    try:
        _copy(connection, target)
    finally:
        connection.close()
    return target


def restore(source: Path, target: Path) -> None:
    """A new ledger file from a backup, as the next incarnation: acts signed before are void. Refuses (`exists`)."""
    _check(source)
    copy_file(source, target)
    with translated():
        connection = connect(str(target))
        try:
            refuse_newer(version_of(connection))
            found = connection.execute(statement("ledger.meta"), {"key": "incarnation"}).fetchone()
            if found is None:
                raise damaged("the backup has no identity")
            given = {"key": "incarnation", "value": str(int(found[0]) + 1)}
            connection.execute(statement("ledger.set_meta"), given)
            connection.execute("pragma journal_mode = wal").fetchall()
        finally:
            connection.close()


def _copy(connection: Any, target: Path) -> None:
    if target.exists():
        raise Refused(f"{target} is there already", code="exists", next="name another file")
    temporary = target.with_name(f".{target.name}.part")
    temporary.unlink(missing_ok=True)
    os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with translated():
            copy = connect(str(temporary))
            try:
                connection.backup(copy)
                copy.execute("pragma journal_mode = delete").fetchall()
            finally:
                copy.close()
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _check(path: Path) -> None:
    """The copy opens, is whole, and its chains verify. Raises `LedgerUnusable` (`ledger_damaged`)."""
    from loopx_engine.ledger.sqlite import SqliteLedger
    from loopx_engine.ledger.verify import verify

    copy = SqliteLedger(str(path), writable=False)
    try:
        found = verify(copy)
    finally:
        copy.close()
    if found:
        raise damaged(f"{path.name}: {found[0].where} {found[0].what}")
