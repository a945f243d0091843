"""The schema and how an older ledger becomes a newer one: numbered steps, under the writer lock, never backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loopx_engine.errors import LedgerUnusable
from loopx_engine.ledger.statements import FOLDER, statement

if TYPE_CHECKING:
    from sqlite_utils.migrations import Migrations

SCHEMA = 1


def version_of(connection: Any) -> int:
    """The schema a file has; 0 for an empty one."""
    return int(connection.execute("pragma user_version").fetchone()[0])


def refuse_newer(version: int) -> None:
    """Refuses (`newer_ledger`) a schema this program does not know, before anything is written."""
    if version > SCHEMA:
        raise LedgerUnusable(
            f"the ledger has schema {version}; this program knows up to {SCHEMA}",
            code="newer_ledger",
            next="update loopx",
        )


def migrate(connection: Any) -> None:
    """Brings a file to the current schema, each step in its transaction. The caller holds the writer lock."""
    version = version_of(connection)
    refuse_newer(version)
    if version == SCHEMA:
        return
    from sqlite_utils import Database

    database = Database(connection, execute_plugins=False, strict=True)
    _steps().apply(database)
    connection.execute(f"pragma user_version = {SCHEMA}")


def _steps() -> Migrations:
    import secrets

    from sqlite_utils.migrations import Migrations

    steps = Migrations("loopx")

    @steps()
    def m001_first(database: Any) -> None:
        for sql in split_script((FOLDER / "schema_1.sql").read_text(encoding="utf-8")):
            database.execute(sql)
        database.execute(statement("ledger.set_meta"), {"key": "id", "value": secrets.token_hex(16)})
        database.execute(statement("ledger.set_meta"), {"key": "incarnation", "value": "1"})

    return steps


def split_script(script: str) -> list[str]:
    """The statements of a schema file; a trigger's body stays whole."""
    from loopx_engine.ledger.driver import sqlite3

    found, current = [], ""
    for line in script.splitlines(keepends=True):
        if not current and (not line.strip() or line.startswith("--")):
            continue
        current += line
        if sqlite3.complete_statement(current):
            found.append(current)
            current = ""
    return found
