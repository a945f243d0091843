"""Answering in a terminal: as many keys as the risk asks for, and the receipt is in the ledger."""

from __future__ import annotations

import pytest
from terminal.conftest import Open
from terminal.screen import BACK, ENTER, ESCAPE, Terminal
from tui.pilot import Day, House

pytestmark = pytest.mark.real


def verbs(house: House, begun: int) -> list[str]:
    return [receipt.verb for receipt in house.since(begun)]


def test_one_key_answers_a_low_one(shop: House, opened: Open) -> None:
    day, begun = Day(shop, "low"), shop.seq()
    screen = opened(shop)
    screen.sees("Keep the old URL alive?", "y yes")
    screen.press("y")
    screen.sees(f"{day.low} answered yes")
    assert verbs(shop, begun) == ["decision answer"]
    answer = shop.decision(day.low)
    assert (answer.state, answer.answer) == ("carried out", "yes"), answer


def test_two_keys_answer_a_medium_one_and_the_first_alone_writes_nothing(shop: House, opened: Open) -> None:
    day, begun = Day(shop, "medium"), shop.seq()
    screen = opened(shop)
    screen.sees("MED", f"Push to loopx/{day.goal}?", "y yes")
    screen.press("y")
    screen.sees("y again answers yes")
    assert shop.since(begun) == []
    screen.press("y")
    screen.sees(f"{day.medium} answered yes")
    assert verbs(shop, begun) == ["decision answer"]


def test_another_key_between_takes_the_first_of_two_back(shop: House, opened: Open) -> None:
    day, begun = Day(shop, "medium"), shop.seq()
    screen = opened(shop)
    screen.sees("MED", f"Push to loopx/{day.goal}?", "y yes")
    screen.press("y")
    screen.sees("y again answers yes")
    screen.press("j")
    screen.misses("y again answers yes")
    screen.press("y")
    screen.sees("y again answers yes")
    assert shop.since(begun) == []


def test_a_high_one_needs_difference_reason_and_goal_and_is_answered_with_all_three(shop: House, opened: Open) -> None:
    day, begun = Day(shop, "high"), shop.seq()
    screen = opened(shop)
    screen.sees("HIGH", "Push to main?", "y yes")
    screen.press("y")
    screen.sees("reason", f"type {day.goal}")
    screen.press("y", ENTER)
    screen.sees("open the difference first: d")
    screen.press("d")
    screen.misses(f"type {day.goal}")
    screen.press(ESCAPE)
    screen.sees(f"type {day.goal}")
    screen.press(ENTER)
    asked(screen, "a reason is needed")
    screen.press(BACK, "the branch is proved", ENTER)
    asked(screen, f"type {day.goal}")
    screen.press("g-999")
    asked(screen, f"type {day.goal}")
    assert shop.since(begun) == []
    screen.press(*["\x7f"] * len("g-999"), day.goal, ENTER)
    screen.sees(f"{day.high} answered yes")
    (receipt,) = shop.since(begun)
    sent = (receipt.payload or {})["arguments"]
    assert (receipt.verb, sent["option"], sent["reason"], sent["goal"]) == (
        "decision answer",
        "yes",
        "the branch is proved",
        day.goal,
    )


def asked(screen: Terminal, missing: str) -> None:
    """Enter in a field says what is missing, at the right of the keys, and sends nothing."""
    screen.press(ENTER)
    screen.until(lambda: any(line.endswith(missing) for line in screen.lines()), f"'{missing}' asked for")
