"""What the driver raises, as what the product says: busy, full, read-only, damaged. Nothing else gets through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError

from loopx_engine.errors import LedgerUnusable, LoopxError, TryAgain
from loopx_engine.ledger.driver import sqlite3


@contextmanager
def translated() -> Iterator[None]:
    """Runs a block and translates the driver's errors."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, JSONDecodeError) as error:
        raise translate(error) from error


def translate(error: BaseException) -> LoopxError:
    """The product's error for one of the driver."""
    said = str(error).lower()
    if "locked" in said or "busy" in said:
        return TryAgain("the ledger is being written by another process", code="busy", next="try again in a moment")
    if "full" in said:
        return TryAgain("there is no room left for the ledger", code="disk_full", next="make room and try again")
    if "readonly" in said or "read-only" in said:
        return read_only()
    if "unable to open" in said:
        return LedgerUnusable(f"the ledger cannot be opened: {error}", code="cannot_open", next="loopx doctor")
    return damaged(str(error))


def damaged(what: str) -> LedgerUnusable:
    """The ledger's bytes are not what was written; they are kept as they are."""
    return LedgerUnusable(
        f"the ledger is damaged ({what}); its bytes are kept as they are and nothing is written",
        code="ledger_damaged",
        next="loopx restore BACKUP, or loopx doctor",
    )


def read_only() -> LedgerUnusable:
    return LedgerUnusable("the ledger can only be read here", code="read_only", next="make its folder writable")
