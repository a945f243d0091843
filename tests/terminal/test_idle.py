"""Idle: where nothing happens next to nothing is written, and the processor rests."""

from __future__ import annotations

import time

import pytest
from terminal.conftest import Open
from tui.pilot import Day, House

pytestmark = pytest.mark.real
FOR_S = 5.0
MOST_BYTES = 600
"""A minute may have 1 kB. In five seconds that begin anywhere, one minute can turn: the ages and the clock of one paint."""
MOST_CPU_S = 1.0


@pytest.mark.parametrize("pane", ["1", "2"])
def test_an_idle_workspace_writes_next_to_nothing(shop: House, opened: Open, pane: str) -> None:
    Day(shop, "low medium high")
    screen = opened(shop)
    screen.sees("Keep the old URL alive?", "live")
    screen.press(pane)
    screen.still(1.2)
    program = screen.program()
    spent = sum(program.cpu_times()[:2])
    begun, until = len(screen.written), time.monotonic() + FOR_S
    while time.monotonic() < until:
        screen.read(until - time.monotonic())
    assert len(screen.written) - begun <= MOST_BYTES, bytes(screen.written[begun:])
    assert sum(program.cpu_times()[:2]) - spent <= MOST_CPU_S
    assert b"\x1b[2J" not in screen.written[begun:]
