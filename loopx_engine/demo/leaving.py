"""Leaving nothing behind: signals end the demo as its own end does, then every process of it goes, then the folder."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from loopx_engine.errors import LoopxError
from loopx_engine.host.paths import socket_path
from loopx_engine.places.processes import Root, end_tree, root_of

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
GRACE_S = 6.0
DEADLINE_S = 10.0
QUIET_LOOKS = 2
LONGEST_TURN = "u-1000000"


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """The first signal that asks to end raises `SystemExit` (128 and its number) in the block; those after it do nothing.

    After the block none does anything: what follows cleans up. One that this process was started to ignore stays ignored.
    """

    def leave(number: int, frame: object) -> None:
        _on_signals(_nothing)
        raise SystemExit(128 + number)

    _on_signals(leave)
    try:
        yield
    finally:
        _on_signals(_nothing)


def end_processes(home: Path, tag: str) -> None:
    """Ends what was started with this home (workspace, engine), what runs under the tag, and all that descends from them.

    Each is asked first and killed after the grace. Looks again: a workspace may have been starting an engine.
    """
    until = time.monotonic() + DEADLINE_S
    quiet = 0
    while quiet < QUIET_LOOKS and time.monotonic() < until:
        roots = started_with(home)
        end_tree(tag, roots, grace_s=GRACE_S, deadline_s=DEADLINE_S)
        quiet = 0 if roots else quiet + 1


def started_with(home: Path) -> list[Root]:
    """The running processes, but this one, whose environment names this home."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            named = process.pid != os.getpid() and process.environ().get("LOOPX_HOME") == str(home)
            if named and process.status() != psutil.STATUS_ZOMBIE:
                found.append(root_of(process.pid))
    return found


def remove(folder: Path, home: Path) -> bool:
    """Removes the folder, and the one for sockets that lies elsewhere where the home is deep; True when nothing is left."""
    if home.is_dir():
        with suppress(LoopxError):
            shutil.rmtree(socket_path(home, LONGEST_TURN).parent, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _on_signals(handler: Callable[[int, Any], None]) -> None:
    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def _nothing(number: int, frame: object) -> None:
    """A handler, not `SIG_IGN`, which programs that are started meanwhile would inherit."""
