"""The demo in a terminal, as a person meets it: a real terminal, real keys, and nothing left behind however it ends."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from heart_kit import need_box, until
from support import ROOT, clean_environment, require
from terminal.screen import ALTERNATE, ENTER, ESCAPE, TAB, Terminal

from loopx_engine.demo.leaving import started_with

pytestmark = pytest.mark.real

DEMO = [sys.executable, "-m", "loopx_engine.demo", "--workspace", "loopx_tui"]
BEGINS, PROMPT = "LoopX demo:", "Enter opens the workspace"
GONE = "engine, folder and throw-away key are gone"
F2, CTRL_C, CTRL_D = "\x1bOQ", "\x03", "\x04"
SIZE = (120, 40)
AGAIN_S = 2.0
WITHIN_S = 40.0
Demo = Callable[..., Terminal]


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    """Starts the demo in a terminal, its throw-away folder in `tmp_path` or `folder`; ended whatever the test found."""
    require("stty")
    begun: list[Terminal] = []

    def start(*words: str, folder: Path = tmp_path, term: str = "xterm-256color", first: str = PROMPT) -> Terminal:
        environ = clean_environment({"TMPDIR": str(folder), "TERM": term})
        begun.append(Terminal([*DEMO, *words], environ, folder=ROOT, size=SIZE))
        begun[0].sees(first)
        return begun[0]

    yield start
    for terminal in begun:
        terminal.end()
    for pid in started_below(tmp_path):
        psutil.Process(pid).kill()


def started_below(folder: Path) -> list[int]:
    """Every running process but the shell around the demo whose temporary folder lies here."""
    found = []
    for process in psutil.process_iter():
        try:
            here = str(folder) in process.environ().get("TMPDIR", "") and process.name() != "sh"
            if here and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def nothing_stays(folder: Path) -> None:
    until(lambda: not started_below(folder), "every process of the demo to end")
    assert not list(folder.glob("loopx-*"))


def press_until(terminal: Terminal, key: str, seen: str) -> None:
    """Presses a key, again where nothing came of it: it does not count for what had just come onto the screen."""

    def pressed() -> bool:
        terminal.send(key)
        ends = time.monotonic() + AGAIN_S
        while seen not in terminal.text() and time.monotonic() < ends:
            terminal.read()
        return seen in terminal.text()

    terminal.until(pressed, f"{seen!r} after {key!r}", WITHIN_S)


def types(terminal: Terminal, text: str, seen: str) -> None:
    """Types into a field: the first letter until it stands after what is `seen` of the field, then the rest."""
    press_until(terminal, text[0], seen + text[0])
    terminal.send(text[1:])
    terminal.sees(seen + text)


def leave(terminal: Terminal) -> int:
    """Leaves the workspace; the demo's exit code."""
    press_until(terminal, "q", BEGINS)
    return terminal.left()


def answer_the_push(terminal: Terminal) -> None:
    """The high decision: the difference, a reason, the goal's id."""
    terminal.until(lambda: "git push origin" in terminal.text(), "the high decision", WITHIN_S)
    press_until(terminal, "y", "type g-1")
    press_until(terminal, "d", "esc leave")
    press_until(terminal, ESCAPE, "enter answer yes")
    types(terminal, "every commit is proved", "reason       ")
    terminal.send(ENTER)
    types(terminal, "g-1", "type g-1     ")
    press_until(terminal, ENTER, "d-1 answered yes")


def confirm_the_criterion(terminal: Terminal) -> None:
    """The one that no check can prove, on the goal."""
    terminal.until(lambda: "only a person" in terminal.text(), "the question", WITHIN_S)
    press_until(terminal, "2", "a person confirms it")
    terminal.press(TAB)
    press_until(terminal, "j", "▐ ◦ a person has read the change")
    press_until(terminal, "m", "It is met: a person has read the change")
    types(terminal, "read it all", "reason       ")
    press_until(terminal, F2, "open becomes met")
    press_until(terminal, ENTER, "Criteria  3 of 3 met")


def close_the_goal(terminal: Terminal) -> None:
    """The medium decision: the same key twice, within five seconds."""
    press_until(terminal, "1", "Close the goal?")
    press_until(terminal, "y", "d-3 answered yes")


def test_a_person_brings_the_goal_to_its_end_by_the_keys_that_were_named(demo: Demo, tmp_path: Path) -> None:
    need_box()
    terminal = demo()
    assert "not sandboxed" not in terminal.text()
    press_until(terminal, ENTER, "Needs you")
    press_until(terminal, "2", "Make the shop count right  g-1")
    terminal.until(lambda: "u-3 ended: failed" in terminal.text(), "the end of the killed turn", WITHIN_S)
    terminal.sees("worker takes “Write the discount rules” (u-4)")
    terminal.send("1")
    answer_the_push(terminal)
    confirm_the_criterion(terminal)
    close_the_goal(terminal)
    assert leave(terminal) == 0
    terminal.sees("untouched", "goal g-1 done", "criteria met: 3 of 3", "receipts verified: ")
    assert len([line for line in terminal.lines() if line.startswith("commit ")]) == 4
    assert GONE in terminal.text()
    assert "left before" not in terminal.text()
    nothing_stays(tmp_path)


def test_who_leaves_early_without_a_box_and_from_an_odd_folder_is_told_how_it_stands(
    demo: Demo, tmp_path: Path
) -> None:
    folder = tmp_path / ('it\'s a folder; with "odd" & long words, ü 名 ' + "x" * 60)
    folder.mkdir()
    terminal = demo("--no-sandbox", folder=folder)
    assert "not sandboxed: asked for with --no-sandbox" in terminal.text()
    press_until(terminal, ENTER, "Needs you")
    press_until(terminal, "2", "committed")
    assert leave(terminal) == 0
    terminal.sees("untouched", "left before the goal was done", "goal g-1 active", "criteria met: 0 of 3")
    terminal.sees("receipts verified: ")
    nothing_stays(folder)


def test_who_does_not_open_the_workspace_leaves_nothing(demo: Demo, tmp_path: Path) -> None:
    terminal = demo()
    terminal.send(CTRL_D)
    assert terminal.left() == 0
    assert "left before it began" in terminal.text()
    nothing_stays(tmp_path)


@pytest.mark.parametrize(("word", "term"), [("--tell", "xterm-256color"), ("--keep", "dumb")])
def test_the_story_is_told_where_that_is_wished_or_no_screen_can_be_shown(demo: Demo, word: str, term: str) -> None:
    terminal = demo(word, term=term, first="the person is played by this demo")
    terminal.sees("added by the person")
    assert PROMPT not in terminal.text()


def test_ctrl_c_before_the_workspace_leaves_nothing(demo: Demo, tmp_path: Path) -> None:
    terminal = demo()
    program = terminal.program()
    terminal.send(CTRL_C)
    program.wait(WITHIN_S)
    assert "Traceback" not in terminal.text()
    nothing_stays(tmp_path)


def test_sigterm_ends_workspace_engine_and_folder(demo: Demo, tmp_path: Path) -> None:
    terminal = demo()
    working(terminal, tmp_path)
    terminal.program().terminate()
    assert terminal.left() == 128 + signal.SIGTERM
    assert "Traceback" not in terminal.text()
    assert GONE in terminal.text()
    assert not terminal.modes()[ALTERNATE]
    nothing_stays(tmp_path)


def test_a_closed_terminal_ends_workspace_engine_and_folder(demo: Demo, tmp_path: Path) -> None:
    terminal = demo()
    working(terminal, tmp_path)
    terminal.child.ptyproc.fileobj.close()
    nothing_stays(tmp_path)


def test_kept_it_is_ended_but_its_folder_stays_and_is_named(demo: Demo, tmp_path: Path) -> None:
    terminal = demo("--keep")
    press_until(terminal, ENTER, "Needs you")
    assert leave(terminal) == 0
    (kept,) = tmp_path.glob("loopx-demo-*")
    assert f"kept: {kept}" in "".join(terminal.lines())
    assert (kept / "home" / "ledger.db").is_file()
    assert not started_with(kept / "home")
    until(lambda: not started_below(tmp_path), "every process of the demo to end")


def working(terminal: Terminal, folder: Path) -> None:
    """Until the workspace is open, an engine runs beside it, and a turn is on its way."""
    press_until(terminal, ENTER, "Needs you")
    terminal.sees("1 running")
    (home,) = folder.glob("loopx-demo-*/home")
    assert len(started_with(home)) == 2
