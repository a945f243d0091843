"""The threads of an engine: at most one a goal, each counted until what follows from its end is on disk."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

Work = Callable[[], bool]
After = Callable[[str, int], None]


class Jobs:
    """`after(name, failures)` runs in the thread once its goal is free again: it sets the wake that follows."""

    def __init__(self, after: After) -> None:
        self._after = after
        self._lock = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}
        self._leaving: set[threading.Thread] = set()
        self._failures: dict[str, int] = {}

    def start(self, name: str, work: Work) -> None:
        """Runs `work` for a goal that has no thread; it returns whether it ended well. Failures in a row are counted."""

        def run() -> None:
            well = False
            try:
                well = work()
            finally:
                with self._lock:
                    self._leaving.add(self._threads.pop(name))
                    failures = self._failures[name] = 0 if well else self._failures.get(name, 0) + 1
                try:
                    self._after(name, failures)
                finally:
                    with self._lock:
                        self._leaving.discard(threading.current_thread())

        thread = threading.Thread(target=run, name=f"work {name}", daemon=True)
        with self._lock:
            self._threads[name] = thread
        thread.start()

    def busy(self, name: str) -> bool:
        with self._lock:
            return name in self._threads

    def names(self) -> list[str]:
        """The goals at work."""
        with self._lock:
            return list(self._threads)

    def any(self) -> bool:
        """Whether a thread works, or is about to say what follows."""
        with self._lock:
            return bool(self._threads or self._leaving)

    def join(self, seconds: float) -> bool:
        """Waits for all of them, at most so long in all. True when none is left."""
        until = time.monotonic() + seconds
        with self._lock:
            threads = [*self._threads.values(), *self._leaving]
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)
