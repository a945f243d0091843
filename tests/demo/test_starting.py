"""`dev.py demo`: in a terminal the demo is told of the workspace, anywhere else it is not; a signal reaches the demo itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support import clean_environment, require
from terminal.screen import Terminal
from test_dev import run, started, toy

pytestmark = pytest.mark.real

ENDS_ON_SIGTERM = """
import signal, sys
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(9))
print(" ".join(["demo", *sys.argv[1:], "as said"]), flush=True)
signal.pause()
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with its environment made and a demo that waits to be ended."""
    made = toy(tmp_path_factory.mktemp("dev"))
    code, said = run(made, "demo", "0")
    assert code == 0, said
    (made / "loopx_engine" / "demo.py").write_text(ENDS_ON_SIGTERM, encoding="utf-8")
    return made


def demo_in_terminal(root: Path) -> list[str]:
    """The words the demo gets from `dev.py demo --keep` in a terminal; then SIGTERM to `dev.py` must end it."""
    require("stty")
    argv = [sys.executable, str(root / "dev.py"), "demo", "--keep"]
    terminal = Terminal(argv, clean_environment(), folder=root)
    try:
        terminal.sees("as said")
        terminal.program().terminate()
        assert terminal.left() == 9
        return next(line.split()[1:-2] for line in terminal.lines() if line.startswith("demo "))
    finally:
        terminal.end()


def test_in_a_terminal_the_demo_gets_the_workspace_and_a_signal_to_the_command_reaches_it(root: Path) -> None:
    assert demo_in_terminal(root) == ["--workspace", "loopx_tui", "--keep"]


def test_in_a_pipe_the_demo_gets_no_workspace(root: Path) -> None:
    process = started(root, "demo", "--keep")
    assert process.stdout is not None
    assert process.stdout.readline() == "demo --keep as said\n"
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 9
