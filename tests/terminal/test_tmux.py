"""In tmux: the same screen, keys, sizes and pastes, and a window that is clean afterwards."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psutil
import pytest
from support import require
from terminal.conftest import WORKSPACE, around
from terminal.multiplexer import Tmux
from tui.pilot import Day, House

pytestmark = pytest.mark.real
Open = Callable[..., Tmux]


@pytest.fixture
def windows() -> Iterator[Open]:
    """Opens the workspace on a house in a tmux of its own."""
    require("tmux")
    with ExitStack() as ends:

        def open_it(house: House, size: tuple[int, int] = (120, 36), **more: str) -> Tmux:
            found = Tmux(WORKSPACE, around(house, **more), folder=house.root, size=size)
            ends.callback(found.end)
            found.sees("Keep the old URL alive?", "y yes", "live")
            return found

        yield open_it


def test_a_decision_is_answered_and_the_window_is_clean_afterwards(shop: House, windows: Open) -> None:
    day, begun = Day(shop, "low"), shop.seq()
    window = windows(shop)
    assert window.asked("alternate_on") == "1"
    window.press("y")
    window.sees(f"{day.low} answered yes")
    assert [receipt.verb for receipt in shop.since(begun)] == ["decision answer"]
    window.press("q")
    assert window.left() == 0
    assert window.clean()


def test_another_size_of_the_window_is_another_layout(shop: House, windows: Open) -> None:
    Day(shop, "low")
    window = windows(shop, (80, 24))
    window.run("resize-window", "-x", "160", "-y", "48")
    window.sees("Needs you", "what blocks most first")
    window.until(lambda: max(map(len, window.text().splitlines())) > 150, "the whole width")
    window.run("resize-window", "-x", "50", "-y", "12")
    window.sees("This terminal has 50x12 cells")
    window.run("resize-window", "-x", "100", "-y", "30")
    window.sees("Keep the old URL alive?", "y yes")


def test_a_paste_of_keys_triggers_nothing(shop: House, windows: Open) -> None:
    day, begun = Day(shop, "medium low"), shop.seq()
    window = windows(shop)
    window.still()
    window.run("set-buffer", "yyqdZ\ryNx\rq\r" * 50)
    window.run("paste-buffer", "-p")
    window.still()
    assert shop.since(begun) == []
    assert "y yes" in window.text()
    window.press("2")
    window.sees("docs site")
    assert shop.decision(day.low).state == "open"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_a_clean_window(shop: House, windows: Open, name: str) -> None:
    Day(shop, "low")
    window = windows(shop)
    (program,) = psutil.Process(int(window.asked("pane_pid"))).children()
    program.send_signal(getattr(signal, name))
    assert window.left() == 0
    assert window.clean()


def test_detaching_and_a_closed_window_end_nothing_but_the_workspace(shop: House, windows: Open) -> None:
    Day(shop, "low")
    window = windows(shop)
    (program,) = psutil.Process(int(window.asked("pane_pid"))).children()
    begun = shop.seq()
    window.end()
    _, alive = psutil.wait_procs([program], timeout=10)
    assert alive == []
    assert shop.since(begun) == []
