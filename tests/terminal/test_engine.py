"""The engine beside the workspace: started where none runs, never twice, missed when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psutil
import pytest
from terminal.conftest import Open, around
from terminal.screen import WITHIN_S
from tui.pilot import House

from loopx_engine.desk.background import engine_runs, start_engine
from loopx_engine.desk.opening import engine_lock

pytestmark = pytest.mark.real


def engines(house: House) -> list[psutil.Process]:
    """The engines that run for this house, by what the system says of their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if (
                "loopx_engine.cli.engine_main" in process.cmdline()
                and process.environ().get("LOOPX_HOME") == house.environ["LOOPX_HOME"]
            ):
                found.append(process)
        except psutil.Error:
            continue
    return found


def end(process: psutil.Process) -> None:
    process.kill()
    psutil.wait_procs([process], timeout=WITHIN_S)


@pytest.fixture
def quiet(bare: House) -> Iterator[House]:
    """A house with one draft, so that an engine finds nothing to do; its engines end with the test."""
    bare.draft("docs site")
    yield bare
    for process in engines(bare):
        end(process)


def running(house: House) -> Callable[[], bool]:
    return lambda: engine_runs(engine_lock(house.environ))


def test_where_none_runs_one_is_started_and_it_goes_on_after_leaving(quiet: House, opened: Open) -> None:
    screen = opened(quiet)
    screen.sees("no engine was running: one was started in the background", "live")
    (engine,) = engines(quiet)
    assert f"(pid {engine.pid})" in screen.text()
    screen.press("q")
    assert screen.left() == 0
    assert f"the engine goes on in the background (pid {engine.pid})" in screen.text()
    assert [process.pid for process in engines(quiet)] == [engine.pid]
    assert running(quiet)()


def test_the_engine_outlives_the_window_it_was_started_from(quiet: House, opened: Open) -> None:
    screen = opened(quiet)
    screen.sees("one was started in the background", "live")
    (engine,) = engines(quiet)
    program = screen.program()
    screen.child.ptyproc.fileobj.close()
    _, alive = psutil.wait_procs([program], timeout=WITHIN_S)
    assert alive == []
    assert engine.is_running()
    assert engine.terminal() is None


def test_one_that_runs_is_not_doubled(quiet: House, opened: Open) -> None:
    pid = start_engine(around(quiet))
    screen = opened(quiet)
    screen.sees("live", "needs 0")
    screen.press("R")
    screen.sees("an engine runs already")
    assert [process.pid for process in engines(quiet)] == [pid]
    screen.press("q")
    assert screen.left() == 0
    assert "goes on in the background" not in screen.text()


def test_an_engine_that_was_killed_is_missed_and_a_key_starts_another(quiet: House, opened: Open) -> None:
    pid = start_engine(around(quiet))
    screen = opened(quiet)
    screen.sees("live", "needs 0")
    end(psutil.Process(pid))
    screen.sees("✗ no engine")
    screen.press("R")
    screen.sees("one was started in the background", "live")
    (engine,) = engines(quiet)
    assert engine.pid != pid
