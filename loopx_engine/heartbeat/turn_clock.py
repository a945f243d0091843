"""The clocks of a turn: wall, silence, and the same thing said over and over. They stand still while a person decides."""

from __future__ import annotations

from loopx_engine.clock import Clock
from loopx_engine.model.defaults import TURN_REPEATS, TURN_SILENCE_MS
from loopx_engine.model.turn import Turn
from loopx_engine.runtimes.protocol import Event, Note, Text


class TurnClock:
    """`over()` is the reason a turn must end, or an empty text."""

    def __init__(self, clock: Clock, turn: Turn, *, silence_ms: int = TURN_SILENCE_MS, repeats: int = TURN_REPEATS) -> None:
        self._clock = clock
        self._silence_s = silence_ms / 1000
        self._most = repeats
        self._wall_s = (turn.deadline - turn.begun_at) / 1000
        self._started = self._last = self._seen = clock.monotonic()
        self._said = ""
        self._times = 0

    def heard(self, event: Event) -> None:
        """Something came from the agent."""
        self._last = self._seen = self._clock.monotonic()
        text = event.text.strip() if isinstance(event, Text | Note) else ""
        if not text:
            return
        self._times = self._times + 1 if text == self._said else 1
        self._said = text

    def waiting_for_person(self) -> None:
        """A question is open: the time since the last look does not count."""
        now = self._clock.monotonic()
        passed = now - self._seen
        self._started += passed
        self._last += passed
        self._seen = now

    def over(self) -> str:
        now = self._clock.monotonic()
        self._seen = now
        if now - self._started > self._wall_s:
            return f"its time of {int(self._wall_s)} s is over"
        if now - self._last > self._silence_s:
            return f"nothing was heard for {int(self._silence_s)} s"
        if self._times >= self._most:
            return f"repeated {self._times} times, likely incomplete: {self._said[:200]}"
        return ""
