"""Times and figures as people read them: short, of one width, and never a traceback for any number."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_tui.state.when import DAY, HOUR, MINUTE, age, calm_age, clock, counted, money, stopwatch, tokens

NOON = 1_800_000_000_000


pytestmark = pytest.mark.usefixtures("utc")


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (0, "0s"), (-5, "0s"), (999, "0s"), (59_999, "59s"), (MINUTE, "1m"), (HOUR - 1, "59m"), (HOUR, "1h"), (DAY - 1, "23h"),
        (DAY, "1d"), (400 * DAY, "400d"),
    ],
)  # fmt: skip
def test_an_age_is_in_its_largest_fitting_unit(ms: int, said: str) -> None:
    assert age(ms) == said
    assert calm_age(ms) == ("now" if ms < MINUTE else said)


@given(st.integers(-(10**18), 10**18))
def test_an_age_is_a_number_and_a_unit(ms: int) -> None:
    assert re.fullmatch(r"\d+[smhd]", age(ms))


@given(st.integers(0, 100 * DAY), st.integers(0, 100 * DAY))
def test_what_is_older_never_looks_younger(one: int, other: int) -> None:
    def lasts(said: str) -> int:
        return int(said[:-1]) * {"s": 1000, "m": MINUTE, "h": HOUR, "d": DAY}[said[-1]]

    young, old = sorted((one, other))
    assert lasts(age(young)) <= lasts(age(old)) <= old


@pytest.mark.parametrize(
    ("ms", "said"),
    [(0, "0:00"), (-1, "0:00"), (38_000, "0:38"), (252_000, "4:12"), (HOUR - 1, "59:59"), (HOUR + 127_000, "1:02:07")],
)
def test_a_running_time_is_a_stopwatch(ms: int, said: str) -> None:
    assert stopwatch(ms) == said


@pytest.mark.parametrize(
    ("later", "said"),
    [
        (0, "08:00"),
        (6 * HOUR, "14:00"),
        (-6 * HOUR, "02:00"),
        (20 * HOUR, "Sat 16 04:00"),
        (-20 * HOUR, "Thu 14 12:00"),
    ],
)
def test_an_instant_has_its_day_where_the_time_alone_would_mislead(later: int, said: str) -> None:
    assert clock(NOON + later, NOON) == said


@given(st.integers(-(10**40), 10**40))
def test_an_instant_that_no_calendar_has_is_unknown(ms: int) -> None:
    assert clock(ms, NOON) == "unknown" or re.fullmatch(r"(\w{3} \d\d )?\d\d:\d\d", clock(ms, NOON))


@pytest.mark.parametrize("ms", [10**40, -(10**40)])
def test_a_year_out_of_reach_is_unknown(ms: int) -> None:
    assert clock(ms, NOON) == "unknown"


@pytest.mark.parametrize(
    ("count", "said"),
    [(None, "unknown"), (0, "0"), (870, "870"), (999, "999"), (1000, "1k"), (412_345, "412k"), (999_999, "999k"),
     (1_000_000, "1.0M"), (3_140_000, "3.1M")],
)  # fmt: skip
def test_tokens_are_short_and_what_nobody_reported_is_unknown_and_not_0(count: int | None, said: str) -> None:
    assert tokens(count) == said


@pytest.mark.parametrize(
    ("cost", "said"), [(None, ""), (0, "$0.00"), (2_100_000, "$2.10"), (1_234_567_890, "$1234.57")]
)
def test_money_is_said_only_where_it_was_reported(cost: int | None, said: str) -> None:
    assert money(cost) == said


def test_one_is_one_and_everything_else_many() -> None:
    assert [counted(number, "turn") for number in (0, 1, 2)] == ["0 turns", "1 turn", "2 turns"]
