"""One program in a box: how it ended is told truly, nothing of it stays, its output never fills the memory."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
import tracemalloc
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import absent, require

from loopx_engine.places import program
from loopx_engine.places.environment import check_environment
from loopx_engine.places.processes import members
from loopx_engine.places.program import ProgramResult, run_program
from loopx_engine.places.sandbox import Box, Mounts, probe

pytestmark = pytest.mark.real
PYTHON = sys.executable
Run = Callable[..., ProgramResult]


@pytest.fixture(params=["bubblewrap", "none"])
def box(request: pytest.FixtureRequest) -> Box:
    if request.param == "none":
        return Box("none", "asked for by the test")
    require("bwrap")
    found = probe()
    if found.kind == "none":
        absent(found.reason)
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


@pytest.fixture
def tag() -> str:
    return f"t-{uuid.uuid4().hex}.check"


@pytest.fixture
def run(box: Box, place: Path, tag: str) -> Run:
    def call(*argv: str, **options: Any) -> ProgramResult:
        given: dict[str, Any] = {
            "cwd": place, "box": box, "mounts": Mounts(place), "environment": check_environment(), "tag": tag,
            "timeout_s": 30.0, "network": False,
        }  # fmt: skip
        return run_program(argv, **(given | options))

    return call


@pytest.mark.parametrize("code", [0, 1, 2, 77, 125, 255])
def test_exit_and_output_are_told(run: Run, box: Box, code: int) -> None:
    done = run(PYTHON, "-c", f"import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit({code})")
    assert (done.state, done.exit, done.tail, done.sandbox) == ("exited", code, "out\nerr", box.kind)
    assert done.output_digest == hashlib.sha256(b"out\nerr\n").hexdigest()
    assert done.output == "out\nerr\n"
    assert 0 < done.duration_ms < 30_000


def test_program_ended_by_a_signal_failed_alike_in_and_out_of_a_box(run: Run) -> None:
    done = run(PYTHON, "-c", "import os; os.kill(os.getpid(), 9)")
    assert (done.state, done.exit) == ("exited", 137)


def test_it_runs_where_asked_with_what_is_given_and_no_input(run: Run, place: Path) -> None:
    (place / "sub").mkdir()
    code = "import os, sys; print(os.getcwd(), os.environ['GIVEN'], repr(sys.stdin.read()))"
    done = run(PYTHON, "-c", code, cwd=place / "sub", environment={**check_environment(), "GIVEN": "x"})
    assert done.tail == f"{place}/sub x ''"


def script(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return str(path)


def test_program_that_is_missing_or_no_program_cannot_run(run: Run, place: Path) -> None:
    cases = {
        "loopx-no-such-program": "No such file",
        str(place / "gone"): "No such file",
        script(place / "plain.txt", "#!/bin/sh\n", 0o644): "Permission denied",
        script(place / "bad-interpreter", "#!/loopx/no-such-interpreter\n"): "No such file",
        str(place): "Permission denied",
        "": "no program",
    }
    for argv0, words in cases.items():
        done = run(argv0, "argument")
        assert (done.state, done.exit) == ("cannot_run", None), (argv0, done)
        assert words in done.tail, (argv0, done)


@pytest.mark.parametrize("head", [b"\x7fELF\x01\x01\x01\0", b"\xca\xfe\xba\xbe\0\0", b"MZ\x90\0\x03\0", b"\0" * 64])
def test_program_of_another_machine_cannot_run(run: Run, place: Path, head: bytes) -> None:
    program = place / "foreign"
    program.write_bytes(head + b"\x01\x02(((\n" * 40)
    program.chmod(0o755)
    done = run("./foreign")
    assert done.state == "cannot_run", done
    assert "Exec format error" in done.tail


def test_launcher_that_does_not_find_its_program_cannot_run_and_its_words_are_kept(run: Run) -> None:
    for argv in (["sh", "-c", "loopx-no-such-program --all"], ["env", "loopx-no-such-program"]):
        done = run(*argv)
        assert (done.state, done.exit) == ("cannot_run", 127)
        assert "loopx-no-such-program" in done.tail


def test_bad_argv_and_missing_folder_cannot_run(run: Run, place: Path) -> None:
    assert run().state == "cannot_run"
    assert run("a\0b").state == "cannot_run"
    gone = run("true", cwd=place / "gone")
    assert (gone.state, "gone: No such file" in gone.tail) == ("cannot_run", True)


def test_folder_that_is_not_in_the_box_cannot_run(run: Run, box: Box, place: Path, tmp_path: Path) -> None:
    if box.kind == "none":
        return
    hidden = tmp_path / "elsewhere"
    hidden.mkdir()
    done = run("true", cwd=hidden)
    assert (done.state, "chdir" in done.tail) == ("cannot_run", True)
    assert run("true", mounts=Mounts(place, hidden=(place,))).state == "cannot_run"


@pytest.mark.parametrize("code", [0, 1])
def test_program_cannot_pretend_that_it_was_not_started(run: Run, code: int) -> None:
    said = "bwrap: execvp python: No such file or directory"
    done = run(PYTHON, "-c", f"import os, sys; print({said!r}); sys.stdout.flush(); os._exit({code})")
    assert (done.state, done.exit) == ("exited", code)


def test_status_of_the_box_is_not_in_reach_of_the_program(run: Run, box: Box) -> None:
    done = run(
        PYTHON,
        "-c",
        "import os; print([os.readlink(f'/proc/self/fd/{n}')[:4] for n in os.listdir('/proc/self/fd')[:3]])",
    )
    assert done.state == "exited"
    listed = run("ls", "/proc/self/fd")
    assert listed.tail.split() == ["0", "1", "2", "3"]


def test_timeout_ends_the_whole_tree(run: Run, place: Path, tag: str) -> None:
    code = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("began", flush=True)
if not os.fork(): os.setsid()
while True: time.sleep(1)
"""
    began = time.monotonic()
    done = run(PYTHON, "-c", code, timeout_s=0.5)
    assert (done.state, done.exit, done.tail) == ("timeout", None, "began")
    assert 0.5 <= time.monotonic() - began < 7
    assert members(tag) == []


def test_stop_ends_it_within_seconds(run: Run, place: Path, tag: str) -> None:
    stop = threading.Event()
    found: list[ProgramResult] = []
    code = "import pathlib, signal, time; signal.signal(15, signal.SIG_IGN); pathlib.Path('up').touch(); time.sleep(60)"
    thread = threading.Thread(target=lambda: found.append(run(PYTHON, "-c", code, stop=stop)))
    thread.start()
    deadline = time.monotonic() + 20
    while not (place / "up").exists():
        assert time.monotonic() < deadline
        stop.wait(0.01)
    began = time.monotonic()
    stop.set()
    thread.join()
    assert (found[0].state, found[0].exit) == ("stopped", None)
    assert time.monotonic() - began < 7
    assert members(tag) == []


def test_program_that_is_stopped_may_save_its_work(run: Run, place: Path) -> None:
    code = """
import os, signal, time
def save(*_):
    open("saved", "w").close()
    os._exit(0)
signal.signal(signal.SIGTERM, save)
print("up", flush=True)
time.sleep(60)
"""
    assert (run(PYTHON, "-c", code, timeout_s=0.7).state, (place / "saved").exists()) == ("timeout", True)


def test_nothing_starts_once_stopped(run: Run, place: Path) -> None:
    stop = threading.Event()
    stop.set()
    done = run(PYTHON, "-c", "open('ran', 'w')", stop=stop)
    assert (done.state, done.exit, done.duration_ms) == ("stopped", None, 0)
    assert not (place / "ran").exists()


@pytest.mark.parametrize(
    "leave",
    [
        "if os.fork(): os._exit(0)",
        "if os.fork(): os._exit(0)\nos.setsid()",
        "os.fork() and os._exit(0)\nos.fork() and os._exit(0)",
    ],
)
def test_children_that_a_program_leaves_are_ended_and_do_not_hold_its_result(run: Run, tag: str, leave: str) -> None:
    code = f"import os, signal, time\nprint('done', flush=True)\n{leave}\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(60)"
    began = time.monotonic()
    done = run(PYTHON, "-c", code)
    assert (done.state, done.exit, done.tail) == ("exited", 0, "done")
    assert time.monotonic() - began < 7
    assert members(tag) == []


def test_child_without_tag_that_is_left_behind_is_ended_too(run: Run, place: Path) -> None:
    code = """
import os, sys, time
if os.fork(): os._exit(0)
open("left", "w").write(str(os.getpid()))
os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)"], {"MARK": "left-behind"})
"""
    assert run(PYTHON, "-c", code).state == "exited"
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            assert b"left-behind" not in Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue


def test_a_hundred_megabytes_of_output_are_not_held(run: Run) -> None:
    code = "import os\nblock = bytes(range(97, 113)) * 4096\nfor _ in range(1600): os.write(1, block)\nprint('the end')"
    tracemalloc.start()
    try:
        done = run(PYTHON, "-c", code, output_limit=64_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (done.state, done.exit) == ("exited", 0)
    assert peak < 2_000_000
    assert len(done.output) < 65_000
    assert done.output.startswith("abcdefghijklmnop")
    assert done.output.endswith("the end\n")
    assert f"[{1600 * 65_536 + 8 - 64_000} bytes left out]" in done.output
    digest = hashlib.sha256()
    for _ in range(1600):
        digest.update(bytes(range(97, 113)) * 4096)
    digest.update(b"the end\n")
    assert done.output_digest == digest.hexdigest()


@pytest.mark.parametrize("size", [0, 1, 31_999, 32_000, 32_001, 63_999, 64_000, 64_001, 200_000])
def test_output_is_whole_up_to_the_limit(size: int) -> None:
    output = program._Output(64_000)
    data = bytes(number % 251 for number in range(size))
    for at in range(0, size, 7_919):
        output.add(data[at : at + 7_919])
    whole = output._whole()
    if size <= 64_000:
        assert whole == data.decode("utf-8", "replace")
    else:
        assert f"[{size - 64_000} bytes left out]" in whole


def test_tail_is_the_last_four_kilobytes_and_bad_bytes_are_replaced(run: Run) -> None:
    done = run(PYTHON, "-c", "import os; os.write(1, b'x' * 9000 + b'\\xff\\xfe end \\xe2\\x82')")
    assert done.tail.endswith("\ufffd\ufffd end \ufffd")
    assert len(done.tail.encode("utf-8", "replace")) < 4096 + 20


def test_program_that_closes_its_output_early_is_still_waited_for(run: Run, place: Path) -> None:
    done = run(PYTHON, "-c", "import os, time; os.close(1); os.close(2); time.sleep(0.3); open('late', 'w').close()")
    assert (done.state, done.exit, done.tail) == ("exited", 0, "")
    assert (place / "late").exists()


def test_many_at_once_are_told_apart(run: Run, place: Path) -> None:
    found: dict[int, ProgramResult] = {}
    threads = [
        threading.Thread(
            target=lambda n=n: found.update(
                {n: run(PYTHON, "-c", f"print({n}); raise SystemExit({n})", tag=f"t-{place}-{n}")}
            )
        )
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: (done.exit, done.tail) for n, done in found.items()} == {n: (n, str(n)) for n in range(4)}


def test_library_that_a_place_planted_is_not_loaded_by_the_box(run: Run, box: Box, place: Path) -> None:
    environment = {**check_environment(), "LD_PRELOAD": str(place / "planted.so"), "PATH": f"{place}:/usr/bin:/bin"}
    script(place / "bwrap", "#!/bin/sh\necho planted\n")
    done = run("printenv", "LD_PRELOAD", environment=environment)
    assert (done.state, done.exit) == ("exited", 0)
    assert str(place / "planted.so") in done.tail.splitlines()[-1]
    assert "planted" not in done.tail.split()
