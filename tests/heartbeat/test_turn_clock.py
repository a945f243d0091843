"""The clocks of a turn on a clock moved by hand: wall, silence, repeats, and what does not count."""

from __future__ import annotations

import pytest

from loopx_engine.clock import FakeClock
from loopx_engine.heartbeat.turn_clock import TEXT_REPEATS, Clocks, TurnClock
from loopx_engine.runtimes.protocol import Note, Text, Usage

MINUTE = 60_000


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def test_the_defaults_are_those_of_the_model() -> None:
    assert (Clocks().wall, Clocks().silence, Clocks().repeats) == (60 * MINUTE, 10 * MINUTE, 20)


def test_silence_begins_anew_with_everything_that_is_heard(clock: FakeClock) -> None:
    turn = TurnClock(clock, Clocks())
    for event in (Text(text="x"), Note(text="y"), Usage(input=1, output=None), Text(text="")):
        clock.advance(9 * MINUTE)
        assert turn.look() == ""
        turn.heard(event)
    clock.advance(10 * MINUTE)
    assert turn.look() == ""
    clock.advance(1)
    assert turn.look() == "nothing was heard for 10 min"


def test_the_wall_counts_however_much_is_heard(clock: FakeClock) -> None:
    turn = TurnClock(clock, Clocks(wall=2000))
    for number in range(5):
        turn.heard(Text(text=str(number)))
        clock.advance(500)
        said = turn.look()
    assert said == "its time of 2 s is over"


def test_time_that_is_not_the_agents_counts_for_neither(clock: FakeClock) -> None:
    turn = TurnClock(clock, Clocks())
    clock.advance(9 * MINUTE)
    assert turn.look() == ""
    for _ in range(1000):
        clock.advance(60 * MINUTE)
        assert turn.look(still=True) == ""
    clock.advance(1 * MINUTE)
    assert turn.look() == ""
    clock.advance(1)
    assert turn.look().startswith("nothing was heard")


def test_a_wall_clock_that_jumps_changes_nothing(clock: FakeClock) -> None:
    turn = TurnClock(clock, Clocks())
    clock.set(clock.now() + 10_000 * MINUTE)
    assert turn.look() == ""


def test_a_note_repeated_too_often_is_named(clock: FakeClock) -> None:
    turn = TurnClock(clock, Clocks(repeats=3))
    for _ in range(2):
        turn.heard(Note(text="read a"))
        assert turn.look() == ""
    turn.heard(Note(text=" read a "))
    assert turn.look() == "repeated 3 times, likely incomplete: read a"


def test_something_else_in_between_is_no_repeat(clock: FakeClock) -> None:
    turn = TurnClock(clock, Clocks(repeats=3))
    for number in range(30):
        turn.heard(Note(text="read a" if number % 2 else "read b"))
    assert turn.look() == ""


def test_a_plain_line_may_come_more_often_than_a_note(clock: FakeClock) -> None:
    turn = TurnClock(clock, Clocks(repeats=3))
    for _ in range(3 * TEXT_REPEATS - 1):
        turn.heard(Text(text="warning: unused"))
    assert turn.look() == ""
    turn.heard(Text(text="warning: unused"))
    assert "warning: unused" in turn.look()


def test_empty_lines_and_events_without_words_repeat_nothing(clock: FakeClock) -> None:
    turn = TurnClock(clock, Clocks(repeats=2))
    for _ in range(500):
        turn.heard(Text(text="  "))
        turn.heard(Usage(input=1, output=1))
    assert turn.look() == ""


def test_what_is_named_is_bounded(clock: FakeClock) -> None:
    turn = TurnClock(clock, Clocks(repeats=2))
    for _ in range(2):
        turn.heard(Note(text="x" * 10_000))
    assert len(turn.look()) < 300
