"""The engine in the background: a process of its own that stays; one a ledger; started again after any end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import Home
from support import ROOT, clean_environment

from loopx_engine import Desk
from loopx_engine.desk import background
from loopx_engine.desk.background import KEPT, engine_runs, start_engine
from loopx_engine.desk.opening import engine_lock
from loopx_engine.errors import LoopxError, Refused, TryAgain
from loopx_engine.host.lock import single_instance

pytestmark = pytest.mark.real
DEADLINE_S = 30.0
STARTS_AND_ENDS = """
import os, sys
from loopx_engine.desk.background import start_engine
print(start_engine(dict(os.environ), sandboxed=False), flush=True)
"""


def until(condition: Callable[[], Any], what: str) -> Any:
    """The first true value of the condition. Fails, saying what was waited for, when the deadline passes."""
    ends = time.monotonic() + DEADLINE_S
    while not (found := condition()):
        assert time.monotonic() < ends, f"waited for: {what}"
        time.sleep(0.02)
    return found


class Background:
    """A founded ledger, and every engine that was started on it."""

    def __init__(self, home: Home) -> None:
        self.environ = {
            **clean_environment(), "LOOPX_HOME": str(home.data), "LOOPX_KEYS": str(home.keys), "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        self.home = home.data
        self.lock = engine_lock(self.environ)
        self.pids: list[int] = []
        Desk(self.environ).close()

    def start(self) -> int:
        pid = start_engine(self.environ, sandboxed=False)
        self.pids.append(pid)
        return pid

    def holder(self) -> int:
        return int(json.loads(self.lock.read_bytes())["pid"])

    def runs(self) -> bool:
        return engine_runs(self.lock)

    def gone(self, pid: int) -> None:
        """Waits until a process has ended and nobody holds the lock."""
        until(lambda: ended(pid), f"{pid} to end")
        until(lambda: not self.runs(), "the lock to be free")


def ended(pid: int) -> bool:
    """Whether a process is gone; one that only waits to be collected is."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def engine(home: Home) -> Iterator[Background]:
    """Afterwards every engine that was started is ended."""
    made = Background(home)
    yield made
    for pid in made.pids:
        if not ended(pid):
            os.kill(pid, signal.SIGTERM)
    for pid in made.pids:
        made.gone(pid)


def test_it_is_a_process_in_a_session_of_its_own_that_holds_the_lock(engine: Background) -> None:
    pid = engine.start()
    assert engine.runs()
    assert engine.holder() == pid
    assert os.getsid(pid) == os.getpgid(pid) == pid
    assert os.getsid(pid) != os.getsid(0)
    process = psutil.Process(pid)
    assert process.terminal() is None
    assert Path(process.cwd()) == engine.home
    assert "loopx_engine.cli.engine_main" in process.cmdline()


def test_what_it_says_goes_to_a_file_of_its_owners_alone(engine: Background) -> None:
    pid = engine.start()
    said = engine.home / "logs" / "engine.out"
    until(lambda: f"pid {pid}" in said.read_text(encoding="utf-8"), "its first words")
    assert said.stat().st_mode & 0o777 == 0o600


def test_it_gets_a_clean_environment(engine: Background) -> None:
    engine.environ |= {
        "LOOPX_TOKEN": "a-3.secret",
        "LOOPX_PASSPHRASE_FD": "3",
        "SECRET": "x",
        "COLUMNS": "80",
        "TERM": "xterm",
    }
    seen = psutil.Process(engine.start()).environ()
    assert set(seen) <= {*KEPT, "LOOPX_HOME", "LOOPX_KEYS", "LOOPX_LEDGER", "PYTHONPATH", "LC_CTYPE"}
    assert seen["LOOPX_HOME"] == str(engine.home)


def test_it_goes_on_when_whoever_started_it_ends(engine: Background) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTS_AND_ENDS], env=engine.environ, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    pid = int(done.stdout)
    engine.pids.append(pid)
    assert engine.runs()
    assert psutil.Process(pid).is_running()
    assert psutil.Process(pid).ppid() != os.getpid()


def test_where_one_runs_none_is_started_and_its_words_stay(engine: Background) -> None:
    pid = engine.start()
    said = engine.home / "logs" / "engine.out"
    words = until(lambda: said.read_text(encoding="utf-8"), "its first words")
    with pytest.raises(TryAgain) as running:
        start_engine(engine.environ)
    assert running.value.code == "engine_running"
    assert engine.holder() == pid
    assert said.read_text(encoding="utf-8") == words
    assert [child.pid for child in psutil.Process().children() if "engine_main" in " ".join(child.cmdline())] == [pid]


def test_of_several_that_are_started_at_once_one_runs_and_the_others_say_so(engine: Background) -> None:
    def start(_: int) -> int | LoopxError:
        try:
            return start_engine(engine.environ, sandboxed=False)
        except LoopxError as error:
            return error

    with ThreadPoolExecutor(3) as pool:
        found = [*pool.map(start, range(3))]
    pids = [one for one in found if isinstance(one, int)]
    engine.pids += pids
    assert pids == [engine.holder()]
    assert [one.code for one in found if isinstance(one, LoopxError)] == ["engine_running"] * 2


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["asked", "killed"])
def test_it_is_ended_by_its_pid_and_can_be_started_again(engine: Background, how: int) -> None:
    first = engine.start()
    os.kill(first, how)
    engine.gone(first)
    assert engine.lock.exists()
    second = engine.start()
    assert second != first
    assert engine.holder() == second


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"\xff\x00", b'{"pid": 1, "started": 0}', b'{"pid": 4194000, "started": 1}']
)
def test_a_lock_file_that_nobody_holds_is_no_engine_whatever_it_says(engine: Background, content: bytes) -> None:
    engine.lock.write_bytes(content)
    assert not engine.runs()
    assert engine.lock.read_bytes() == content, "only looked at"
    assert engine.start() == engine.holder()


def test_looking_makes_no_file(engine: Background) -> None:
    assert not engine.runs()
    assert not engine.lock.exists()
    assert not engine_runs(engine.home / "nowhere" / "engine.lock")


def test_a_lock_that_is_a_folder_is_no_engine(engine: Background) -> None:
    engine.lock.mkdir()
    assert not engine.runs()


def test_a_holder_that_says_nothing_of_itself_is_an_engine(engine: Background) -> None:
    with single_instance(engine.lock):
        engine.lock.write_bytes(b"")
        assert engine.runs()
    assert not engine.runs()


def test_one_that_cannot_start_says_its_last_words(engine: Background) -> None:
    (engine.home / "ledger.db").write_bytes(b"not a ledger")
    for side in ("-wal", "-shm"):
        (engine.home / f"ledger.db{side}").unlink(missing_ok=True)
    with pytest.raises(Refused) as failed:
        start_engine(engine.environ, sandboxed=False)
    assert failed.value.code == "engine_failed"
    assert "ended at once" in failed.value.message
    assert not failed.value.message.endswith(": it said nothing")
    assert not engine.runs()


def test_one_that_never_takes_the_lock_is_slow(engine: Background, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "STARTS_WITHIN_S", 0.0)
    with pytest.raises(TryAgain) as slow:
        start_engine(engine.environ, sandboxed=False)
    assert slow.value.code == "engine_slow"
    until(engine.runs, "the one that was started all the same")
    engine.pids.append(until(engine.holder, "its pid"))


def test_a_desk_starts_it_and_sees_that_it_runs(engine: Background) -> None:
    desk = Desk(engine.environ)
    assert not desk.engine_runs()
    engine.pids.append(desk.start_engine())
    assert desk.engine_runs()
    desk.close()
    assert engine.runs(), "it is not the desk's"


def test_each_ledger_has_an_engine_of_its_own(engine: Background, tmp_path: Path) -> None:
    first = engine.start()
    other = {**engine.environ, "LOOPX_LEDGER": str(tmp_path / "other.db")}
    Desk(other).close()
    assert not engine_runs(engine_lock(other))
    second = start_engine(other, sandboxed=False)
    engine.pids.append(second)
    assert first != second
    assert engine_runs(engine_lock(other))
