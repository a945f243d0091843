"""Starting: what is shown before any key was pressed, and what is said where no workspace can be."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import pytest
from terminal.conftest import WORKSPACE, Open, around
from terminal.screen import WITHIN_S
from tui.pilot import Day, House

pytestmark = pytest.mark.real


def test_an_open_decision_is_on_the_screen_before_any_key(shop: House, opened: Open) -> None:
    day, begun = Day(shop, "low"), shop.seq()
    screen = opened(shop)
    screen.sees("Keep the old URL alive?", "because  old links", "y yes", "live", "needs 1")
    screen.still()
    assert f"on checkout totals  {day.goal}" in screen.text()
    assert shop.since(begun) == []


def test_an_empty_ledger_asks_what_should_get_done(shop: House, opened: Open) -> None:
    begun = shop.seq()
    screen = opened(shop)
    screen.sees("Agents work for days. You decide what matters.", "What should get done?")
    screen.press("yes")
    screen.sees("yes")
    assert shop.since(begun) == []


def plain(argv: Sequence[str], house: House, **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        argv,
        check=False,
        env=around(house, **more),
        cwd=house.root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=WITHIN_S,
    )


def test_in_a_pipe_it_says_the_status_and_no_control_character(shop: House) -> None:
    Day(shop, "low")
    said = plain(WORKSPACE, shop)
    assert said.returncode == 0, said.stderr
    assert "Keep the old URL alive?" in said.stdout.decode()
    assert said.stderr == b""
    assert not set(said.stdout) & (set(range(32)) - {10})


def test_a_terminal_whose_output_goes_into_a_pipe_gets_the_status(shop: House, opened: Open) -> None:
    Day(shop, "low")
    screen = opened(shop, argv=("sh", "-c", '"$@" | cat', "sh", *WORKSPACE))
    assert screen.left() == 0
    assert "Keep the old URL alive?" in screen.text()
    assert screen.modes() == {}


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_show_it_says_why_then_the_status(shop: House, opened: Open, term: str) -> None:
    Day(shop, "low")
    screen = opened(shop, TERM=term)
    assert screen.left() == 0
    assert f"TERM={term} cannot show the workspace" in screen.text()
    assert "Keep the old URL alive?" in screen.text()
    assert b"\x1b" not in screen.written
