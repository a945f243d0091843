"""Times as people type them, and as they are said back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_engine.clock import SystemClock
from loopx_engine.desk.when import UNITS, age, clock_text, moment, parse_when
from loopx_engine.errors import UsageError
from loopx_engine.model.defaults import DAY, HOUR, MINUTE

NOON = 1_800_000_000_000


@pytest.fixture(autouse=True)
def berlin() -> Iterator[None]:
    """A zone that is not UTC, and in which the hour changes; afterwards the one that was."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("typed", "ms"),
    [("1m", MINUTE), ("24h", 24 * HOUR), ("3d", 3 * DAY), ("2w", 14 * DAY), (" 5h ", 5 * HOUR), ("9999d", 9999 * DAY)],
)
def test_a_duration_is_from_now(typed: str, ms: int) -> None:
    assert parse_when(typed, NOON) == NOON + ms


@pytest.mark.parametrize(
    ("typed", "utc"),
    [
        ("2027-01-31T18:00", "2027-01-31T17:00+00:00"), ("2027-07-31T18:00", "2027-07-31T16:00+00:00"),
        ("2027-01-31 18:00:30", "2027-01-31T17:00:30+00:00"), ("2027-01-31T18:00Z", "2027-01-31T18:00+00:00"),
        ("2027-01-31T18:00+05:30", "2027-01-31T12:30+00:00"), ("2027-01-31", "2027-01-30T23:00+00:00"),
    ],
)  # fmt: skip
def test_a_date_is_of_this_machines_zone_unless_it_names_one(typed: str, utc: str) -> None:
    assert parse_when(typed, NOON) == int(datetime.fromisoformat(utc).timestamp() * 1000)


def test_milliseconds_are_taken_as_they_are() -> None:
    assert parse_when(str(NOON), 0) == NOON


def test_without_a_moment_it_is_this_machines_now() -> None:
    before = SystemClock().now()
    assert before + HOUR <= parse_when("1h") <= SystemClock().now() + HOUR


@pytest.mark.parametrize(
    "typed",
    ["", "   ", "soon", "0h", "-1h", "10000d", "1", "1y", "h", "24 h", "1.5h", "٣d", "２４h", "2027-13-01", "2027-02-30", "18:00",
     "99999999999999999999", "9999-12-31T23:59:59.999999+99:00", "\x00", "\ud800", "1h; rm"],
)  # fmt: skip
def test_what_is_no_time_is_named_with_what_was_expected(typed: str) -> None:
    with pytest.raises(UsageError, match="24h, 3d or") as refused:
        parse_when(typed, NOON)
    assert refused.value.code == "bad_time"


@given(st.text(max_size=40) | st.text("0123456789-:T .+Zmhdw", max_size=30))
def test_whatever_is_typed_is_a_time_or_a_named_error(typed: str) -> None:
    found: int | UsageError
    try:
        found = parse_when(typed, NOON)
    except UsageError as error:
        found = error
    if isinstance(found, UsageError):
        assert found.code == "bad_time"
        assert len(found.message) < 120
    else:
        assert isinstance(found, int)


@given(st.integers(1, 9999), st.sampled_from(sorted(UNITS)), st.integers(0, 2 * NOON))
def test_a_longer_duration_is_later(number: int, unit: str, now: int) -> None:
    assert parse_when(f"{number}{unit}", now) - now == number * UNITS[unit]


@pytest.mark.parametrize(
    ("ms", "said"),
    [(-1, "0s"), (38_999, "38s"), (12 * MINUTE, "12m"), (4 * HOUR, "4h"), (3 * DAY, "3d"), (DAY - 1, "23h")],
)
def test_a_duration_is_said_in_its_largest_unit(ms: int, said: str) -> None:
    assert age(ms) == said


def test_an_instant_is_said_on_this_machines_clock() -> None:
    assert clock_text(NOON, NOON) == "09:00"
    assert clock_text(NOON + DAY, NOON) == "Sat 09:00"
    assert moment(NOON) == "01-15 09:00"
    assert moment(NOON, seconds=True) == "2027-01-15 09:00:00"
