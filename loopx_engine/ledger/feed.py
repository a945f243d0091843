"""The change feed: wakes whoever waits when a receipt is written, by this process at once, by another within a poll.

`PRAGMA data_version` is the truth about other processes (2 us a look); a condition serves this one.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loopx_engine.ledger.sqlite import SqliteLedger

POLL_S = 0.06


class Feed:
    """One for each open ledger."""

    def __init__(self, ledger: SqliteLedger) -> None:
        self._ledger = ledger
        self._condition = threading.Condition()
        self._woken = 0

    def notify(self) -> None:
        """A receipt of this process is on disk."""
        with self._condition:
            self._condition.notify_all()

    def wake(self) -> None:
        """Every wait of this process returns at once."""
        with self._condition:
            self._woken += 1
            self._condition.notify_all()

    def wakes(self) -> int:
        """How often waiters were woken: taken before a look, it lets a wait notice a wake that came since."""
        return self._woken

    def wait(self, after: int, timeout: float, woken: int | None = None) -> bool:
        """Until a receipt past `after` exists (True), somebody woke the waiters, or `timeout` seconds passed (False)."""
        until = time.monotonic() + timeout
        woken = self._woken if woken is None else woken
        version, told = None, True
        while True:
            seen = self._version()
            if (told or seen != version) and self._ledger.last_seq() > after:
                return True
            version = seen
            with self._condition:
                if self._woken != woken:
                    return False
                left = until - time.monotonic()
                if left <= 0:
                    return False
                told = self._condition.wait(min(POLL_S, left))

    def _version(self) -> int:
        """Moves with every commit another connection made; a ledger in memory has one, so its last receipt tells."""
        if self._ledger.in_memory:
            return self._ledger.last_seq()
        return int(self._ledger.connection().execute("pragma data_version").fetchone()[0])
