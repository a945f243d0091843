"""Leaving: however it ends, the terminal is as it was before, and the exit code says how it went."""

from __future__ import annotations

import re
import signal
import termios

import psutil
import pytest
from terminal.conftest import WORKSPACE, Open
from terminal.screen import ALTERNATE, CURSOR, FOCUS, MICE, PASTES, WITHIN_S, WRAPS, Terminal
from tui.pilot import Day, House

pytestmark = pytest.mark.real
CRASH = """
import sys
from loopx_tui.app import Workspace
from loopx_tui.start import start

def wrong(self):
    raise ValueError("wrong on purpose")

async def wrong_beside(self):
    wrong(self)

Workspace._tick = wrong if sys.argv[1] == "timer" else lambda self: self.deeds.start(wrong_beside(self))
sys.exit(start())
"""


def ready(shop: House, opened: Open, argv: tuple[str, ...] = WORKSPACE) -> Terminal:
    Day(shop, "low")
    screen = opened(shop, argv=argv)
    screen.sees("Keep the old URL alive?", "y yes")
    assert screen.modes()[ALTERNATE]
    assert screen.modes()[PASTES]
    return screen


def clean(screen: Terminal) -> None:
    """Main screen, cursor, no mouse, no marks around a paste, lines wrap, and the line discipline as before."""
    modes = screen.modes()
    wrong = [name for name in (ALTERNATE, PASTES, FOCUS, 2048, *MICE) if modes.get(name)]
    assert wrong == []
    assert modes[CURSOR]
    assert modes.get(WRAPS, True)
    written = bytes(screen.written)
    assert written.count(b"\x1b[<u") == len(re.findall(rb"\x1b\[>\d+u", written)), "the keyboard is not as before"


def left_clean(screen: Terminal) -> int:
    code = screen.left()
    clean(screen)
    before, after = (re.findall(rf"^{word} (\S+)", screen.text(), re.MULTILINE) for word in ("before", "after"))
    assert before == after != []
    return code


@pytest.mark.parametrize("key", ["q", "\x11"], ids=["q", "ctrl+q"])
def test_the_key_to_leave_leaves_a_clean_terminal(shop: House, opened: Open, key: str) -> None:
    screen = ready(shop, opened)
    screen.press(key)
    assert left_clean(screen) == 0


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_it_as_the_key_does(shop: House, opened: Open, name: str) -> None:
    screen = ready(shop, opened)
    screen.program().send_signal(getattr(signal, name))
    assert left_clean(screen) == 0


def test_a_signal_while_something_lies_over_the_panes_ends_it_too(shop: House, opened: Open) -> None:
    screen = ready(shop, opened)
    screen.press("N")
    screen.sees("title")
    screen.program().send_signal(signal.SIGTERM)
    assert left_clean(screen) == 0


def test_one_interrupt_does_not_end_it(shop: House, opened: Open) -> None:
    screen = ready(shop, opened)
    screen.press("\x03")
    assert screen.program().is_running()
    screen.press("2")
    screen.sees("checkout totals", "docs site")


@pytest.mark.parametrize("where", ["timer", "beside"])
def test_a_crash_leaves_a_clean_terminal_one_line_and_a_traceback_in_the_log(
    shop: House, opened: Open, where: str
) -> None:
    screen = ready(shop, opened, (WORKSPACE[0], "-c", CRASH, where))
    assert left_clean(screen) == 1
    said = " ".join(screen.lines())
    assert "loopx: a fault of the workspace: " in said
    assert "Traceback" not in said
    kept = shop.folder / "home" / "logs" / "workspace-crash.txt"
    assert str(kept) in "".join(screen.lines())
    assert "wrong on purpose" in kept.read_text(encoding="utf-8")
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_window_that_is_closed_ends_the_workspace(shop: House, opened: Open) -> None:
    screen = ready(shop, opened)
    program = screen.program()
    screen.child.ptyproc.fileobj.close()
    _, alive = psutil.wait_procs([program], timeout=WITHIN_S)
    assert alive == []


def stopped(screen: Terminal) -> psutil.Process:
    program = screen.program()
    program.send_signal(signal.SIGTSTP)
    screen.until(lambda: program.status() == psutil.STATUS_STOPPED, "the stop")
    screen.still()
    return program


def test_a_stop_leaves_the_terminal_clean_until_it_goes_on(shop: House, opened: Open) -> None:
    screen = ready(shop, opened)
    raw = termios.tcgetattr(screen.child.child_fd)
    program = stopped(screen)
    clean(screen)
    assert termios.tcgetattr(screen.child.child_fd)[3] & termios.ICANON
    program.resume()
    screen.until(lambda: screen.modes()[ALTERNATE], "the other screen again")
    screen.press("\x0c")
    screen.sees("Keep the old URL alive?", "y yes")
    assert termios.tcgetattr(screen.child.child_fd)[3] == raw[3]
    screen.press("q")
    assert left_clean(screen) == 0


@pytest.mark.xfail(strict=True, reason="nothing is drawn when it goes on, until ctrl+l")
def test_going_on_after_a_stop_draws_the_whole_screen(shop: House, opened: Open) -> None:
    screen = ready(shop, opened)
    program = stopped(screen)
    program.resume()
    screen.until(lambda: screen.modes()[ALTERNATE], "the other screen again")
    screen.still()
    assert "Keep the old URL alive?" in screen.text()


@pytest.mark.xfail(strict=True, reason="no key stops it")
def test_the_key_to_stop_stops_it(shop: House, opened: Open) -> None:
    screen = ready(shop, opened)
    screen.press("\x1a")
    assert screen.program().status() == psutil.STATUS_STOPPED
