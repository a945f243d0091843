"""Time as a value that is handed in: UTC milliseconds for instants, monotonic seconds for durations."""

from __future__ import annotations

import time
from threading import Event
from typing import Protocol


class Clock(Protocol):
    """`now()` is UTC milliseconds since 1970; `monotonic()` seconds; `wait` sleeps until set or timeout (seconds)."""

    def now(self) -> int: ...
    def monotonic(self) -> float: ...
    def wait(self, event: Event, timeout: float) -> bool: ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()

    def wait(self, event: Event, timeout: float) -> bool:
        return event.wait(timeout)


class FakeClock:
    """A clock a test moves by hand: `advance(ms)`; `set(ms)` jumps the wall clock alone."""

    def __init__(self, now: int = 1_800_000_000_000) -> None:
        self._now = now
        self._monotonic = 0.0

    def now(self) -> int:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def wait(self, event: Event, timeout: float) -> bool:
        self.advance(int(timeout * 1000))
        return event.is_set()

    def advance(self, ms: int) -> None:
        self._now += ms
        self._monotonic += ms / 1000

    def set(self, now: int) -> None:
        self._now = now
