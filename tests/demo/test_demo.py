"""The demo as a new user runs it: it ends 0 and its last lines say what came true, with and without a box, and after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from heart_kit import need_box, until
from support import ROOT, clean_environment

from loopx_engine.demo.leaving import remove

LAST = ["goal g-1 done", "criteria met: 3 of 3"]


def run_demo(folder: Path, *arguments: str) -> list[str]:
    """The lines a demo prints; its exit code must be 0."""
    done = subprocess.run(
        [sys.executable, "-m", "loopx_engine.demo", *arguments],
        cwd=ROOT, env=clean_environment({"TMPDIR": str(folder)}), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout.splitlines()


def started_in(folder: Path) -> list[int]:
    """Every process whose temporary folder is this one."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("TMPDIR") == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def ended_by(number: signal.Signals, folder: Path) -> int:
    """The exit code of a demo that gets a signal in the middle of its story."""
    demo = subprocess.Popen(
        [sys.executable, "-m", "loopx_engine.demo"],
        cwd=ROOT, env=clean_environment({"TMPDIR": str(folder)}), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert demo.stdout is not None
    with demo.stdout:
        ends = time.monotonic() + 100
        while "takes “Round prices" not in demo.stdout.readline():
            assert time.monotonic() < ends
        os.kill(demo.pid, number)
        demo.communicate(timeout=60)
    return demo.returncode


def tells_the_story(lines: list[str]) -> None:
    assert lines[-3:-1] == LAST
    assert lines[-1].startswith("receipts verified: ")
    text = "\n".join(lines)
    for beat in (
        "is red on the base commit", "“done” refused by the check", "says done: mended", "SIGKILL", "its files are kept",
        "under gr-1, nobody was asked", "(high risk) waits for the person", "answered yes by the person, signed",
        "untouched", "throw-away key",
    ):  # fmt: skip
        assert beat in text, beat
    assert len([line for line in lines if line.startswith("commit ")]) == 4


@pytest.mark.real
def test_the_demo_tells_the_whole_story_in_a_box(tmp_path: Path) -> None:
    need_box()
    lines = run_demo(tmp_path)
    tells_the_story(lines)
    assert any(line.startswith("sandbox: ") for line in lines)
    assert not list(tmp_path.glob("loopx-demo-*"))


@pytest.mark.real
def test_the_demo_passes_without_a_box_and_says_so(tmp_path: Path) -> None:
    lines = run_demo(tmp_path, "--no-sandbox")
    tells_the_story(lines)
    assert any(line.startswith("not sandboxed: ") for line in lines)
    assert any("(not sandboxed)" in line for line in lines)


@pytest.mark.real
def test_a_demo_after_one_that_was_killed_also_passes(tmp_path: Path) -> None:
    need_box()
    assert ended_by(signal.SIGKILL, tmp_path) == -signal.SIGKILL
    until(lambda: not started_in(tmp_path), "the boxes of the killed demo to end with it")
    tells_the_story(run_demo(tmp_path))
    (killed,) = tmp_path.glob("loopx-demo-*")
    assert remove(killed, killed / "home")


@pytest.mark.real
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_demo_that_is_asked_to_end_leaves_nothing(tmp_path: Path, name: str) -> None:
    number = signal.Signals[name]
    assert ended_by(number, tmp_path) == 128 + number
    until(lambda: not started_in(tmp_path), "what the demo ran to end with it")
    assert not list(tmp_path.iterdir())


@pytest.mark.real
def test_a_temporary_folder_with_an_impossible_name_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "two\nlines"
    folder.mkdir()
    tells_the_story(run_demo(folder, "--no-sandbox"))
    assert not list(folder.iterdir())
