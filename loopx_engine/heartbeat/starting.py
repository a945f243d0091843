"""Starting turns: one a goal, at most so many at once and so many a minute, also after sleep or restart."""

from __future__ import annotations

from collections import deque
from threading import Lock

from loopx_engine.heartbeat.driver import TurnDriver
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.turn_clock import Clocks
from loopx_engine.model.actor import Actor
from loopx_engine.model.defaults import MINUTE
from loopx_engine.model.goal import Goal


class Starts:
    """Which turns run and when the last ones began."""

    def __init__(self, heart: Heart, at_once: int, a_minute: int, clocks: Clocks) -> None:
        self.heart = heart
        self.at_once = at_once
        self.a_minute = a_minute
        self.clocks = clocks
        self._lock = Lock()
        self._drivers: dict[str, TurnDriver] = {}
        self._begun: deque[int] = deque()

    def room_at(self, now: int) -> int | None:
        """When a further turn may start (UTC ms; `now` for at once), None while only the end of another makes room."""
        with self._lock:
            while self._begun and not now - MINUTE < self._begun[0] <= now:
                self._begun.popleft()
            if len(self._drivers) >= self.at_once:
                return None
            return now if len(self._begun) < self.a_minute else self._begun[0] + MINUTE

    def driver(self, goal: Goal, actor: Actor, todo: str | None) -> TurnDriver:
        """A turn that counts from now on; `run` it in a thread of its goal."""
        made = TurnDriver(self.heart, goal, actor, todo, self.clocks)
        with self._lock:
            self._begun.append(self.heart.clock.now())
            self._drivers[goal.id] = made
        return made

    def run(self, driver: TurnDriver) -> None:
        """The whole turn, in the calling thread."""
        try:
            driver.run()
        finally:
            with self._lock:
                self._drivers.pop(driver.goal.id, None)

    def stop(self, goal: str, reason: str) -> None:
        """Ends the goal's turn, if one runs."""
        with self._lock:
            driver = self._drivers.get(goal)
        if driver is not None:
            driver.stop(reason)
