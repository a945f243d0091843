"""Kernel locks: exclusive, fair, bounded; one engine; freed with the process whatever the file says."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support import ROOT

from loopx_engine.errors import Refused, TryAgain
from loopx_engine.host import lock
from loopx_engine.host.lock import exclusive, single_instance

DEADLINE_S = 20.0
HOLD = """
import sys; from pathlib import Path; from loopx_engine.host.lock import exclusive, single_instance
held = single_instance(Path(sys.argv[2])) if sys.argv[1] == "engine" else exclusive(Path(sys.argv[2]), 5)
held.__enter__(); print("held", flush=True); sys.stdin.read()
"""
TAKES = """
import json, os, sys, time; from pathlib import Path; from loopx_engine.host.lock import exclusive
path, counter = Path(sys.argv[1]), sys.argv[2]
sys.stdin.readline()
worst = 0.0
for _ in range(int(sys.argv[3])):
    began = time.monotonic()
    with exclusive(path, 10):
        worst = max(worst, time.monotonic() - began)
        with open(counter, "r+", encoding="ascii") as file:
            seen = int(file.read())
            file.seek(0)
            file.write(str(seen + 1))
print(worst)
"""


@contextmanager
def holder(path: Path, kind: str = "writer") -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until it is ended."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, kind, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", cwd=ROOT,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == "held\n"
    try:
        yield child
    finally:
        child.kill()
        child.wait(DEADLINE_S)
        child.stdin.close()
        child.stdout.close()


def free(path: Path) -> bool:
    """Whether the lock can be taken at once."""
    try:
        with exclusive(path, 0):
            return True
    except TryAgain:
        return False


def wait_until_free(path: Path) -> None:
    with exclusive(path, DEADLINE_S):
        pass


def no_waiting_threads() -> bool:
    ends = time.monotonic() + DEADLINE_S
    while any(thread.name.startswith("lock ") for thread in threading.enumerate()):
        if time.monotonic() > ends:
            return False
        for thread in threading.enumerate():
            if thread.name.startswith("lock "):
                thread.join(0.05)
    return True


class TestExclusive:
    def test_one_holds_it_and_the_next_gets_it(self, tmp_path: Path) -> None:
        path = tmp_path / "lock"
        with exclusive(path, 1):
            assert not free(path)
        wait_until_free(path)
        assert path.stat().st_mode & 0o777 == 0o600

    def test_it_is_freed_when_the_work_fails(self, tmp_path: Path) -> None:
        with pytest.raises(ZeroDivisionError), exclusive(tmp_path / "lock", 1):
            raise ZeroDivisionError
        assert free(tmp_path / "lock")

    def test_too_long_a_wait_says_so_and_leaves_nothing_behind(self, tmp_path: Path) -> None:
        path = tmp_path / "lock"
        with holder(path):
            began = time.monotonic()
            with pytest.raises(TryAgain) as caught, exclusive(path, 0.1):
                pytest.fail("it was held twice")
            assert 0.09 < time.monotonic() - began < 5
        assert (caught.value.code, caught.value.retry) == ("busy", True)
        wait_until_free(path)
        assert no_waiting_threads()
        assert free(path)

    def test_interrupted_wait_does_not_keep_the_lock_later(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Interrupted(threading.Event):
            def wait(self, timeout: float | None = None) -> bool:
                raise KeyboardInterrupt

        path = tmp_path / "lock"
        with holder(path):
            monkeypatch.setattr(threading, "Event", Interrupted)
            thread_started = threading.Thread.start

            def start(self: threading.Thread) -> None:
                monkeypatch.undo()
                self._started = threading.Event()  # type: ignore[attr-defined]
                thread_started(self)

            monkeypatch.setattr(threading.Thread, "start", start)
            with pytest.raises(KeyboardInterrupt), exclusive(path, 5):
                pytest.fail("it was held twice")
        wait_until_free(path)
        assert no_waiting_threads()
        assert free(path)

    def test_killed_holder_frees_it_at_once(self, tmp_path: Path) -> None:
        path = tmp_path / "lock"
        with holder(path) as child:
            assert not free(path)
            child.send_signal(signal.SIGKILL)
            wait_until_free(path)

    def test_child_of_the_holder_does_not_keep_it(self, tmp_path: Path) -> None:
        path = tmp_path / "lock"
        with exclusive(path, 1):
            child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
        try:
            assert free(path)
        finally:
            child.communicate()

    def test_copy_of_the_handle_in_a_forked_child_does_not_keep_it(self, tmp_path: Path) -> None:
        path = tmp_path / "lock"
        reading, writing = os.pipe()
        with exclusive(path, 1):
            child = os.fork()
            if child == 0:
                os.close(writing)
                os.read(reading, 1)
                os._exit(0)
        try:
            assert free(path)
        finally:
            os.close(writing)
            os.waitpid(child, 0)
            os.close(reading)

    @pytest.mark.parametrize("content", [b"", b"junk", b"\0" * 5000, b'{"pid": 1}'])
    def test_what_the_file_says_is_no_obstacle_and_stays(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "lock"
        path.write_bytes(content)
        assert free(path)
        assert path.read_bytes() == content

    def test_threads_of_one_process_exclude_each_other(self, tmp_path: Path) -> None:
        inside = []
        most = []

        def work() -> None:
            for _ in range(20):
                with exclusive(tmp_path / "lock", DEADLINE_S):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert max(most) == 1
        assert len(most) == 160

    def test_folder_that_is_not_there_or_no_lock_is_refused(self, tmp_path: Path) -> None:
        for path in (tmp_path / "missing" / "lock", tmp_path):
            with pytest.raises(Refused) as caught, exclusive(path, 1):
                pytest.fail("nothing to lock")
            assert caught.value.code == "no_lock"

    @pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "disk_full"), (errno.ENOLCK, "no_lock")])
    def test_system_that_cannot_lock_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str
    ) -> None:
        def failing(*given: object) -> None:
            raise OSError(number, os.strerror(number))

        handles = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
        monkeypatch.setattr(fcntl, "flock", failing)
        with pytest.raises((Refused, TryAgain)) as caught, exclusive(tmp_path / "lock", 1):
            pytest.fail("it did not lock")
        assert caught.value.code == code
        assert not handles or len(os.listdir("/proc/self/fd")) == handles

    def test_system_that_fails_while_waiting_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def failing(handle: int) -> None:
            raise OSError(errno.ENOLCK, "No locks available")

        with holder(tmp_path / "lock"):
            monkeypatch.setattr(lock, "_block", failing)
            with pytest.raises(Refused) as caught, exclusive(tmp_path / "lock", DEADLINE_S):
                pytest.fail("it did not lock")
        assert caught.value.code == "no_lock"

    def test_of_many_writers_nobody_loses_a_count(self, tmp_path: Path) -> None:
        self.count(tmp_path, processes=4, takes=50)

    @pytest.mark.real
    def test_sixteen_processes_wait_fairly(self, tmp_path: Path) -> None:
        assert self.count(tmp_path, processes=16, takes=200) < 1.0

    def count(self, folder: Path, *, processes: int, takes: int) -> float:
        """The worst wait in seconds of all takes."""
        counter = folder / "counter"
        counter.write_text("0", encoding="ascii")
        children = [
            subprocess.Popen(
                [sys.executable, "-c", TAKES, str(folder / "lock"), str(counter), str(takes)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", cwd=ROOT,
            )
            for _ in range(processes)
        ]  # fmt: skip
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        worst = [float(child.communicate()[0]) for child in children]
        assert counter.read_text(encoding="ascii") == str(processes * takes)
        return max(worst)


class TestSingleInstance:
    def test_second_engine_is_told_who_runs_and_since_when(self, tmp_path: Path) -> None:
        path = tmp_path / "engine.lock"
        before = int(time.time())
        with holder(path, "engine") as child, pytest.raises(TryAgain) as caught:
            single_instance(path)
        assert caught.value.code == "engine_running"
        assert caught.value.exit_code == 75
        assert f"pid {child.pid}, started 2" in caught.value.message
        assert caught.value.details["pid"] == child.pid
        assert before <= caught.value.details["started"] <= time.time()

    def test_killed_engine_leaves_no_obstacle(self, tmp_path: Path) -> None:
        path = tmp_path / "engine.lock"
        with holder(path, "engine") as child:
            child.kill()
            child.wait(DEADLINE_S)
            with single_instance(path):
                assert json.loads(path.read_bytes())["pid"] == os.getpid()

    def test_it_is_free_after_it_was_closed_even_twice(self, tmp_path: Path) -> None:
        path = tmp_path / "engine.lock"
        held = single_instance(path)
        held.close()
        held.close()
        with single_instance(path):
            pass
        with single_instance(path):
            pass

    @pytest.mark.parametrize(
        "content",
        [
            b"", b"junk", b"\xff\xfe", b"null", b"[1]", b"{}", b'{"pid": "x", "started": 1}', b'{"pid": 1, "started": 1e999}',
            b'{"pid": 1, "started": 99999999999999999999}', b"[" * 1000, b'{"pid": null, "started": null}',
        ],
    )  # fmt: skip
    def test_file_that_says_nothing_useful_still_names_a_running_engine(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "engine.lock"
        with holder(path, "engine"):
            path.write_bytes(content)
            with pytest.raises(TryAgain) as caught:
                single_instance(path)
        assert caught.value.code == "engine_running"
        assert "does not say" in caught.value.message
        assert caught.value.details == {}

    @pytest.mark.parametrize("content", [b"", b"junk", b'{"pid": 1, "started": 1}', b"x" * 100_000])
    def test_file_of_a_dead_or_foreign_process_is_no_obstacle(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "engine.lock"
        path.write_bytes(content)
        with single_instance(path):
            assert set(json.loads(path.read_bytes())) == {"pid", "started"}

    def test_looking_leaves_what_the_file_says_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "engine.lock"
        path.write_bytes(b'{"pid": 7, "started": 8}')
        single_instance(path, claim=False).close()
        assert path.read_bytes() == b'{"pid": 7, "started": 8}'

    def test_disk_without_room_does_not_hinder_the_engine(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def failing(*given: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "write", failing)
        with single_instance(tmp_path / "engine.lock"):
            monkeypatch.undo()
            with pytest.raises(TryAgain):
                single_instance(tmp_path / "engine.lock")

    def test_file_that_cannot_be_written_frees_the_lock_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def failing(*given: object) -> int:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "write", failing)
        with pytest.raises(Refused):
            single_instance(tmp_path / "engine.lock")
        monkeypatch.undo()
        single_instance(tmp_path / "engine.lock").close()

    def test_missing_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(Refused) as caught:
            single_instance(tmp_path / "missing" / "engine.lock")
        assert caught.value.code == "no_lock"
