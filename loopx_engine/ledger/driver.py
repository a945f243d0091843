"""The one place that chooses the SQLite driver: `pysqlite3` (bundles a fixed SQLite) where it is there, else the standard one.

SQLite 3.7.0-3.51.2 can corrupt a WAL database when a checkpoint and a commit meet (fixed in 3.51.3, 3.50.7, 3.44.6). On such
a version every checkpoint happens under the writer lock and automatic ones are off.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or os.environ.get("LOOPX_SQLITE") == "standard":
    import sqlite3
else:
    try:
        import pysqlite3 as sqlite3
    except ImportError:
        import sqlite3

BUSY_MS = 5000
CHECKPOINT_BYTES = 4 * 1024 * 1024


def wal_race(version: str) -> bool:
    """Whether this SQLite version has the WAL-reset race."""
    parts = tuple(int(part) for part in version.split(".")[:3])
    if parts < (3, 7, 0) or parts >= (3, 51, 3):
        return False
    return not ((3, 50, 7) <= parts < (3, 51, 0) or (3, 44, 6) <= parts < (3, 45, 0))


def connect(location: str, *, uri: bool = False, shared: bool = False) -> Any:
    """A connection without implicit transactions. Pragmas that change the file are set by the opener."""
    connection = sqlite3.connect(
        location, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=not shared, uri=uri
    )
    connection.execute("pragma recursive_triggers = on")
    connection.execute("pragma synchronous = full")
    if wal_race(sqlite3.sqlite_version):
        connection.execute("pragma wal_autocheckpoint = 0")
    return connection


__all__ = ["BUSY_MS", "CHECKPOINT_BYTES", "connect", "sqlite3", "wal_race"]
