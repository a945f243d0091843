"""The feed: a thread that waits for changes of the ledger and says so once, however many there were since it was heard.

It carries no content: who hears it reads again what is on the screen. When the ledger cannot be looked at it says since when.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from loopx_engine import Desk, LoopxError

WAIT_S = 0.5
RETRY_S = 0.5
STOPS_WITHIN_S = 5.0
ROUND_EVERY_S = 1.0


class Feed:
    """`told()` is called from the feed's thread after changes, and once more when a fault came or went."""

    def __init__(self, desk: Desk, told: Callable[[], None]) -> None:
        self._desk = desk
        self._told = told
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)
        self._heard = time.monotonic()
        self.fault = ""
        self.replaced = False
        self.engine: bool | None = None
        self.seq = 0

    def start(self) -> None:
        """Begins to listen."""
        self._thread.start()

    def stop(self) -> bool:
        """Ends the thread; False where it does not end within a few seconds."""
        self._stop.set()
        self._desk.wake()
        self._thread.join(STOPS_WITHIN_S)
        return not self._thread.is_alive()

    @property
    def silent_ms(self) -> int:
        """How long ago the ledger was last looked at."""
        return round((time.monotonic() - self._heard) * 1000)

    def _run(self) -> None:
        round_at = 0.0
        while not self._stop.is_set():
            try:
                if self._desk.wait(self.seq, WAIT_S):
                    self.seq = self._desk.last()
                    self._told()
                self._heard = time.monotonic()
                self._say("")
                if self._heard - round_at > ROUND_EVERY_S:
                    round_at = self._heard
                    self._look_around()
            except LoopxError as error:
                self._say(error.code.replace("_", " "))
                self._stop.wait(RETRY_S)
            except OSError as error:
                self._say((error.strerror or "the ledger cannot be read").lower())
                self._stop.wait(RETRY_S)

    def _look_around(self) -> None:
        """What no receipt says: whether the file is still the one, and whether an engine runs."""
        seen = self._desk.replaced(), self._desk.engine_runs()
        if seen != (self.replaced, self.engine):
            self.replaced, self.engine = seen
            self._told()

    def _say(self, fault: str) -> None:
        if fault != self.fault:
            self.fault = fault
            self._told()
