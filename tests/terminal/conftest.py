"""What tests in a terminal start from: a shop whose engine seems to run, and terminals that end with their test."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from engine_kit import watched
from support import ROOT, require
from terminal.screen import Terminal
from tui.pilot import House

from loopx_engine.desk.opening import engine_lock
from loopx_engine.host.lock import single_instance

Open = Callable[..., Terminal]
WORKSPACE = (sys.executable, "-m", "loopx_tui")


def around(house: House, **more: str) -> dict[str, str]:
    """A person's environment for the ledger of a house, with the variables of `more`; one that is empty is not set."""
    plain = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }
    return {name: value for name, value in {**plain, **house.environ, **more}.items() if value}


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[House]:
    """A house whose ledger no engine holds."""
    yield from watched(House(tmp_path / "house"))  # type: ignore[misc]


@pytest.fixture
def shop(bare: House) -> Iterator[House]:
    """A house whose engine seems to run: its lock is held here, and nothing in the ledger moves by itself."""
    with single_instance(engine_lock(bare.environ)):
        yield bare


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens the workspace on a house in a terminal of its own."""
    require("stty")
    with ExitStack() as ends:

        def open_it(
            house: House, *, size: tuple[int, int] = (120, 36), argv: tuple[str, ...] = WORKSPACE, **more: str
        ) -> Terminal:
            found = Terminal(argv, around(house, **more), folder=house.root, size=size)
            ends.callback(found.end)
            return found

        yield open_it
