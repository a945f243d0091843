"""Pasting: a text is text, however much it looks like keys and however long it is."""

from __future__ import annotations

import pytest
from terminal.conftest import Open
from terminal.screen import ESCAPE, Terminal
from tui.pilot import Day, House

pytestmark = pytest.mark.real
KEYS = "yyqdZYnNxXS\r\ny\rq\x03\x1ay\tp\r"
MEGABYTE = 1_000_000


def alive(screen: Terminal, day: Day) -> None:
    """The workspace still hears keys, and one that answers does."""
    screen.sees("Keep the old URL alive?")
    screen.press("y")
    screen.sees(f"{day.low} answered yes")


@pytest.mark.parametrize("risk", ["low", "medium", "high"])
def test_a_paste_full_of_keys_triggers_nothing(shop: House, opened: Open, risk: str) -> None:
    day, begun = Day(shop, risk), shop.seq()
    screen = opened(shop)
    screen.sees("checkout totals", "y yes")
    screen.still()
    before = screen.lines()[1:]
    screen.paste(KEYS * 20)
    screen.still()
    assert screen.lines()[1:] == before
    assert shop.since(begun) == []
    assert shop.decision(getattr(day, risk)).state == "open"
    screen.press("2")
    screen.sees("docs site")


@pytest.mark.parametrize("text", ["yyqdZ " * (MEGABYTE // 6), "yyqdZ\r\n" * (MEGABYTE // 7)], ids=["one line", "many"])
def test_a_megabyte_in_the_filter_neither_hangs_nor_triggers(shop: House, opened: Open, text: str) -> None:
    day, begun = Day(shop, "low"), shop.seq()
    screen = opened(shop)
    screen.sees("Keep the old URL alive?", "y yes")
    screen.press("/")
    screen.paste(text)
    screen.misses("because  old links")
    assert shop.since(begun) == []
    screen.press(ESCAPE)
    alive(screen, day)


def test_a_megabyte_in_a_field_of_a_form_neither_hangs_nor_triggers(shop: House, opened: Open) -> None:
    day = Day(shop, "low")
    screen = opened(shop)
    screen.sees("Keep the old URL alive?", "y yes")
    screen.press("N")
    screen.sees("What should get done?", "title")
    begun = shop.seq()
    screen.paste("yyqdZ\r" * (MEGABYTE // 6))
    screen.still()
    assert shop.since(begun) == []
    screen.press(ESCAPE)
    alive(screen, day)
