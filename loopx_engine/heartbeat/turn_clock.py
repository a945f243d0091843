"""The clocks of a turn: wall, silence, and the same thing said over and over. They stand still while a person decides."""

from __future__ import annotations

from loopx_engine.clock import Clock
from loopx_engine.model.defaults import TURN_REPEATS, TURN_SILENCE_MS, TURN_WALL_MS
from loopx_engine.model.record import noun
from loopx_engine.runtimes.protocol import Event, Note, Text

TEXT_REPEATS = 50


@noun
class Clocks:
    """What a turn may use: milliseconds in all and in silence, and how often a note may come unchanged."""

    wall: int = TURN_WALL_MS
    silence: int = TURN_SILENCE_MS
    repeats: int = TURN_REPEATS


class TurnClock:
    """`heard` each event, and `look` at least once a tick: it returns the reason a turn must end, or an empty text.

    A plain line of output may come 50 times as often as a note: test runners and compilers say the same line a lot.
    """

    def __init__(self, clock: Clock, clocks: Clocks) -> None:
        self._clock = clock
        self._clocks = clocks
        self._used = self._silent = 0.0
        self._seen = clock.monotonic()
        self._said = ""
        self._times = 0
        self._most = clocks.repeats

    def heard(self, event: Event) -> None:
        """Something came from the agent."""
        self._silent = 0.0
        text = event.text.strip() if isinstance(event, Text | Note) else ""
        if not text:
            return
        self._times = self._times + 1 if text == self._said else 1
        self._said = text
        self._most = self._clocks.repeats * (1 if isinstance(event, Note) else TEXT_REPEATS)

    def look(self, *, still: bool = False) -> str:
        """Counts the time since the last look, unless it was not the agent's (`still`): a question open, a proof running."""
        now = self._clock.monotonic()
        passed = 0.0 if still else now - self._seen
        self._seen = now
        self._used += passed
        self._silent += passed
        if self._used * 1000 > self._clocks.wall:
            return f"its time of {_long(self._clocks.wall)} is over"
        if self._silent * 1000 > self._clocks.silence:
            return f"nothing was heard for {_long(self._clocks.silence)}"
        if self._times >= self._most:
            return f"repeated {self._times} times, likely incomplete: {self._said[:200]}"
        return ""


def _long(milliseconds: int) -> str:
    return f"{milliseconds // 60_000} min" if milliseconds >= 60_000 else f"{milliseconds / 1000:g} s"
