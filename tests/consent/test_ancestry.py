"""Who is a person: no process below a turn is one, however it was started (MODEL.md 6, best effort)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from loopx_engine.consent import ancestry
from loopx_engine.consent.ancestry import TAG_NAME, started_of, tag_of, turn_ancestor

ROOT = Path(__file__).resolve().parents[2]
ASK = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from loopx_engine.consent.ancestry import turn_ancestor
recorded = {int(pid): started for pid, started in json.loads(sys.argv[2]).items()}
print(json.dumps(turn_ancestor(recorded)))
"""
ASKING = (sys.executable, "-I", "-S", "-c", ASK, str(ROOT))


def ask(*before: str, recorded: dict[int, str] | None = None, **environment: str) -> Any:
    """What a process says that was started through `before` with this environment."""
    argv = [*before, *ASKING, json.dumps(recorded or {})]
    done = subprocess.run(
        argv, env={"PATH": os.environ["PATH"], **environment}, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def shell(line: str) -> tuple[str, ...]:
    """A shell that stays while the rest of the argv runs under what `line` names."""
    return ("sh", "-c", f'{line} "$@"; exit $?', "sh")


def test_process_of_a_person_has_no_turn_above_it() -> None:
    assert turn_ancestor() is None
    assert ask() is None
    assert ask(*shell(""), SOME_TAG="x", LOOPX_TAGS="x", XLOOPX_TAG="x") is None


def test_tag_of_its_own_environment_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TAG_NAME, "t-12")
    assert turn_ancestor() == "t-12"
    assert ask(LOOPX_TAG="t-13") == "t-13"


@pytest.mark.parametrize(
    "line",
    [
        "env -u LOOPX_TAG",
        "env -i",
        "LOOPX_TAG=",
        "unset LOOPX_TAG;",
        'unset LOOPX_TAG; sh -c \'exec sh -c "exec \\"\\$@\\"" sh "$@"\' sh',
    ],
)
def test_child_that_dropped_the_tag_is_found_by_an_ancestor(line: str) -> None:
    assert ask(*shell(line), LOOPX_TAG="t-14") == "t-14"


def test_turn_that_replaced_itself_without_the_tag_is_found_by_its_record(tmp_path: Path) -> None:
    recorded = tmp_path / "recorded"
    reader = ASK.replace("sys.argv[2]", f"sys.stdin.readline() and open({str(recorded)!r}).read()")
    argv = ["sh", "-c", 'exec env -i "$@"', "sh", sys.executable, "-I", "-S", "-c", reader, str(ROOT)]
    with subprocess.Popen(argv, env={TAG_NAME: "t-18"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as turn:
        recorded.write_text(json.dumps({turn.pid: started_of(turn.pid)}), encoding="utf-8")
        said, _ = turn.communicate(b"go\n")
    assert json.loads(said) == f"process {turn.pid}"


def test_process_that_dropped_the_tag_itself_is_found_by_its_first_environment() -> None:
    code = f"import os, sys; del os.environ['LOOPX_TAG']; sys.argv[1:] = sys.argv[1:]\n{ASK}"
    argv = [sys.executable, "-I", "-S", "-c", code, str(ROOT), "{}"]
    done = subprocess.run(argv, env={"LOOPX_TAG": "t-15"}, capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout) == "t-15"


@pytest.mark.skipif(shutil.which("setsid") is None, reason="setsid is not on PATH")
def test_new_session_does_not_help() -> None:
    assert ask(*shell("env -u LOOPX_TAG setsid -w"), LOOPX_TAG="t-16") == "t-16"


def test_tag_that_is_not_text_is_told_all_the_same() -> None:
    argv = [*ASKING, "{}"]
    done = subprocess.run(argv, env={b"LOOPX_TAG": b"t-\xff"}, capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout).startswith("t-")


def test_recorded_ancestor_is_found_without_any_tag() -> None:
    me = os.getpid()
    assert ask(recorded={me: started_of(me)}) == f"process {me}"
    assert ask(*shell("env -i"), recorded={me: started_of(me)}) == f"process {me}"


def test_recycled_pid_is_no_ancestor() -> None:
    me = os.getpid()
    ticks, _, boot = started_of(me).partition("/")
    for started in ("", ticks, f"{ticks}/", f"{int(ticks) + 1}/{boot}", f"{ticks}/00000000"):
        assert ask(recorded={me: started}) is None


def test_recorded_process_that_is_no_ancestor_is_none() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        assert ask(recorded={other.pid: started_of(other.pid)}) is None
        other.communicate(b"\n")


@pytest.mark.skipif(not ancestry.LINUX, reason="reads /proc")
def test_process_left_by_its_parents_is_found_by_the_session_of_its_turn(tmp_path: Path) -> None:
    code = """
import os, subprocess, sys, time
if os.fork(): os._exit(0)
while os.getppid() == int(sys.argv[1]) or os.getppid() == os.getsid(0): time.sleep(0.01)
sys.stdin.read()
subprocess.run(sys.argv[2:], env={}, stdout=open("said.part", "wb"))
os.rename("said.part", "said")
"""
    program = tmp_path / "program.py"
    program.write_text(code, encoding="utf-8")
    go, come = os.pipe()
    recorded = tmp_path / "recorded"
    reader = f"{ASK}".replace("sys.argv[2]", f"open({str(recorded)!r}).read()")
    argv = [sys.executable, str(program), "0", sys.executable, "-I", "-S", "-c", reader, str(ROOT)]
    turn = subprocess.Popen(argv, cwd=tmp_path, stdin=go, start_new_session=True)
    os.close(go)
    started = started_of(turn.pid)
    turn.wait()
    recorded.write_text(json.dumps({turn.pid: started}), encoding="utf-8")
    os.close(come)
    deadline = time.monotonic() + 30
    while not (tmp_path / "said").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert json.loads((tmp_path / "said").read_text(encoding="utf-8")) == f"process {turn.pid}"


def test_identity_of_a_process_stays_and_ends_with_it() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        first = started_of(other.pid)
        assert first
        assert first == started_of(other.pid)
        other.communicate(b"\n")
    assert started_of(other.pid) == ""
    assert tag_of(other.pid) == ""


def test_name_with_brackets_and_spaces_does_not_move_the_fields(tmp_path: Path) -> None:
    if not ancestry.LINUX:
        pytest.skip("reads /proc")
    odd = tmp_path / ") S 1 (x) 2"
    odd.symlink_to(sys.executable)
    with subprocess.Popen([str(odd), "-c", "input()"], stdin=subprocess.PIPE) as other:
        assert ancestry.stat_fields(other.pid)[1] == str(os.getpid())
        other.communicate(b"\n")


def test_reading_by_psutil_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ancestry, "LINUX", False)
    assert turn_ancestor() is None
    parent = os.getppid()
    assert turn_ancestor({parent: started_of(parent)}) == f"process {parent}"
    assert turn_ancestor({parent: "1.00"}) is None
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env={TAG_NAME: "t-17"}) as other:
        assert tag_of(other.pid) == "t-17"
        other.communicate(b"\n")


def test_asking_is_cheap_enough_for_every_command() -> None:
    turn_ancestor({1: "x"})
    began = time.process_time()
    for _ in range(20):
        turn_ancestor({1: "x"})
    assert (time.process_time() - began) / 20 < 0.003


def test_asking_loads_nothing_but_the_standard_library() -> None:
    code = f"{ASK}\nassert not {{'psutil', 'pydantic', 'sqlite3'}} & set(sys.modules)"
    argv = [sys.executable, "-I", "-S", "-c", code, str(ROOT), '{"1": "x"}']
    assert subprocess.run(argv, capture_output=True, check=False).returncode == (0 if ancestry.LINUX else 1)


@pytest.mark.real
def test_hundreds_of_shells_in_between_do_not_hide_a_turn(tmp_path: Path) -> None:
    nest = tmp_path / "nest"
    nest.write_text(
        'unset LOOPX_TAG\nleft=$1; shift\nif [ "$left" -gt 0 ]; then sh "$0" $((left - 1)) "$@"; exit $?; fi\n"$@"\n',
        encoding="utf-8",
    )
    assert ask("sh", str(nest), "400", LOOPX_TAG="t-19") == "t-19"
