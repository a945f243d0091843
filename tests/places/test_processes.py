"""Process trees: whatever a program does to stay, it is found by its tag or its root and ended (MODEL.md 7, PAINS.md B49)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from loopx_engine.consent import ancestry
from loopx_engine.places import processes
from loopx_engine.places.environment import TAG_NAME, child_environment
from loopx_engine.places.processes import Root, alive, covers, end_tree, members, root_of, start

pytestmark = pytest.mark.real

# Every program writes `pid-N` for each process it is about to be, and then stays for a minute at most.
PRELUDE = """
import os, signal, sys, time
STAY = time.monotonic() + 60
def here(): open(f"pid-{os.getpid()}", "w").close()
def stay():
    here()
    while time.monotonic() < STAY: time.sleep(1)
    os._exit(0)
def deaf(): signal.signal(signal.SIGTERM, signal.SIG_IGN)
def bare(then):
    "The same program again without any environment: the tag is gone."
    os.execve(sys.executable, [sys.executable, sys.argv[0], then], {})
"""
PROGRAMS = {
    "plain": "stay()",
    "deaf": "deaf(); stay()",
    "children": "os.fork() or stay()\nos.fork() or stay()\nstay()",
    "own sessions": "deaf()\nif not os.fork():\n    os.setsid(); os.fork() or stay(); stay()\nstay()",
    "own groups": "if not os.fork():\n    os.setpgid(0, 0); stay()\nstay()",
    "double fork": "deaf()\nif not os.fork():\n    os.setsid()\n    if os.fork(): os._exit(0)\n    stay()\nstay()",
    "parent leaves": "if os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\ndeaf(); stay()",
    "no tag": "deaf()\nif len(sys.argv) > 1: stay()\nos.fork() or bare('x')\nstay()",
    "no tag, own session": "deaf()\nif len(sys.argv) > 1: stay()\nif not os.fork():\n    os.setsid(); bare('x')\nstay()",
    "many": "deaf()\nfor _ in range(20): os.fork() or stay()\nstay()",
    "stopped": "os.fork() or stay()\nhere(); os.kill(os.getpid(), signal.SIGSTOP)\nstay()",
}  # fmt: skip
COUNTS = {"plain": 1, "deaf": 1, "parent leaves": 1, "children": 3, "own sessions": 3, "many": 21}


class Grove:
    """Starts programs under one tag and knows every process they said they were."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tag = f"t-{uuid.uuid4().hex}"
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, code: str, count: int = 1, tag: str | None = None) -> subprocess.Popen[bytes]:
        program = self.folder / f"program-{len(self.started)}.py"
        program.write_text(f"{PRELUDE}\n{code}\n", encoding="utf-8")
        already = len(self.pids())
        process = start(
            [sys.executable, str(program)], cwd=self.folder, environment=child_environment({}), tag=tag or self.tag
        )
        self.started.append(process)
        until(lambda: len(self.pids()) >= already + count)
        return process

    def pids(self) -> set[int]:
        return {int(path.name.removeprefix("pid-")) for path in self.folder.glob("pid-*")}

    def running(self) -> set[int]:
        return {pid for pid in self.pids() if runs(pid)}


@pytest.fixture
def grove(tmp_path: Path) -> Iterator[Grove]:
    made = Grove(tmp_path)
    yield made
    for pid in made.running():
        os.kill(pid, signal.SIGKILL)
    for process in made.started:
        process.kill()
        process.wait()


def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition never came true"
        time.sleep(0.01)


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_program_starts_in_a_session_of_its_own_tagged_with_private_files(grove: Grove, tmp_path: Path) -> None:
    secret = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(secret, True)
    process = grove.start(
        "open('file', 'w').close()\nopen('fds', 'w').write(','.join(os.listdir('/proc/self/fd')))\nstay()"
        if ancestry.LINUX
        else "open('file', 'w').close(); stay()"
    )
    assert os.getsid(process.pid) == process.pid
    assert psutil.Process(process.pid).environ()[TAG_NAME] == grove.tag
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
    if ancestry.LINUX:
        assert str(secret) not in (tmp_path / "fds").read_text(encoding="utf-8").split(",")
    os.close(secret)


def test_missing_program_and_missing_folder_are_errors(tmp_path: Path) -> None:
    for argv, cwd in ((["loopx-no-such-program"], tmp_path), ([sys.executable], tmp_path / "gone")):
        with pytest.raises(FileNotFoundError):
            start(argv, cwd=cwd, environment={}, tag="t")


@pytest.mark.parametrize("name", PROGRAMS)
def test_whole_tree_is_found_and_ended(grove: Grove, name: str) -> None:
    process = grove.start(PROGRAMS[name], COUNTS.get(name, 2))
    root = root_of(process.pid)
    assert {member.pid for member in members(grove.tag, [root])} >= grove.running()
    began = time.monotonic()
    assert end_tree(grove.tag, [root], grace_s=0.3) == ()
    assert grove.running() == set()
    assert time.monotonic() - began < 8
    assert members(grove.tag, [root]) == []


@pytest.mark.parametrize("name", ["children", "own sessions", "double fork", "parent leaves", "many"])
def test_tag_alone_is_enough(grove: Grove, name: str) -> None:
    grove.start(PROGRAMS[name], COUNTS.get(name, 2))
    assert end_tree(grove.tag, grace_s=0.1) == ()
    assert grove.running() == set()


@pytest.mark.parametrize("name", ["children", "own sessions", "no tag", "no tag, own session", "own groups"])
def test_root_alone_is_enough_while_it_runs(grove: Grove, name: str) -> None:
    process = grove.start(PROGRAMS[name], COUNTS.get(name, 2))
    assert end_tree("", [root_of(process.pid)], grace_s=0.1) == ()
    assert grove.running() == set()


def test_child_without_tag_is_found_by_the_session_of_a_root_that_ended(grove: Grove) -> None:
    code = "if len(sys.argv) > 1: stay()\nif os.fork(): os._exit(0)\nbare('x')"
    process = grove.start(code)
    root = root_of(process.pid)
    assert not alive(root)
    assert {member.pid for member in members(grove.tag, [root])} == grove.pids()
    assert end_tree(grove.tag, [root], grace_s=0.1) == ()
    assert grove.running() == set()


def test_tree_that_forks_while_it_is_killed_is_ended(grove: Grove) -> None:
    code = """
deaf()
for _ in range(4):
    if not os.fork():
        here()
        while time.monotonic() < STAY:
            if not os.fork():
                os.setsid()
                deaf()
                while time.monotonic() < STAY: time.sleep(0.2)
                os._exit(0)
            time.sleep(0.005)
stay()
"""
    process = grove.start(code, 5)
    assert end_tree(grove.tag, [root_of(process.pid)], grace_s=0.2) == ()
    assert members(grove.tag) == []


def test_chain_that_forks_and_leaves_is_caught(grove: Grove) -> None:
    code = """
here()
while time.monotonic() < STAY:
    if os.fork(): os._exit(0)
    os.setsid()
"""
    grove.start(code)
    assert end_tree(grove.tag, grace_s=0.0) == ()
    assert members(grove.tag) == []


def test_four_trees_that_resist_are_gone_within_ten_seconds(grove: Grove) -> None:
    tags = [f"{grove.tag}-{number}" for number in range(4)]
    roots = [root_of(grove.start(PROGRAMS["own sessions"], 3, tag=tag).pid) for tag in tags]
    left: list[int] = []
    began = time.monotonic()
    threads = [
        threading.Thread(target=lambda tag=tag, root=root: left.extend(end_tree(tag, [root])))
        for tag, root in zip(tags, roots, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - began < 10
    assert (left, grove.running()) == ([], set())


def test_tree_is_ended_after_its_starter_was_killed(grove: Grove, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"{PRELUDE}\n{PROGRAMS['own sessions']}\n", encoding="utf-8")
    engine = tmp_path / "engine.py"
    engine.write_text(
        "import sys, time\nfrom pathlib import Path\n"
        "from loopx_engine.places.processes import root_of, start\n"
        "argv, tag = [sys.executable, sys.argv[1]], sys.argv[2]\n"
        "process = start(argv, cwd=Path.cwd(), environment={}, tag=tag)\n"
        "root = root_of(process.pid)\n"
        "Path('root').write_text(f'{root.pid} {root.started}', encoding='utf-8')\n"
        "time.sleep(60)\n",
        encoding="utf-8",
    )
    here = str(Path(__file__).resolve().parents[2])
    starter = subprocess.Popen(
        [sys.executable, str(engine), str(program), grove.tag], cwd=tmp_path, env={**os.environ, "PYTHONPATH": here}
    )
    until(lambda: len(grove.pids()) == 3 and (tmp_path / "root").exists())
    starter.kill()
    starter.wait()
    pid, started = (tmp_path / "root").read_text(encoding="utf-8").split()
    root = Root(int(pid), started)
    assert alive(root)
    assert end_tree(grove.tag, [root], grace_s=0.2) == ()
    assert grove.running() == set()


def test_program_that_ends_when_asked_is_given_the_time(grove: Grove, tmp_path: Path) -> None:
    code = """
def leave(*_):
    time.sleep(0.3)
    open("saved", "w").close()
    os._exit(0)
signal.signal(signal.SIGTERM, leave)
stay()
"""
    process = grove.start(code)
    assert end_tree(grove.tag, [root_of(process.pid)], grace_s=10.0, deadline_s=12.0) == ()
    assert (tmp_path / "saved").exists()


def test_recycled_pid_is_never_killed_nor_its_session(grove: Grove) -> None:
    process = grove.start(PROGRAMS["children"], 3)
    real = root_of(process.pid)
    for started in ("1/00000000", real.started.replace("/", "0/"), real.started + "x", "gone", ""):
        forged = Root(process.pid, started)
        assert not alive(forged)
        assert members("another-tag", [forged]) == []
        assert end_tree("another-tag", [forged], grace_s=0.0) == ()
    assert len(grove.running()) == 3


def test_number_of_an_ended_root_may_have_come_round(grove: Grove, monkeypatch: pytest.MonkeyPatch) -> None:
    process = grove.start("if len(sys.argv) > 1: stay()\nif os.fork(): os._exit(0)\nbare('x')")
    root = root_of(process.pid)
    process.wait()
    for came_round, boot, found in ((True, root.started, 0), (False, "1/00000000", 0), (False, root.started, 1)):
        monkeypatch.setattr(processes, "_numbers_never_came_round", lambda came_round=came_round: not came_round)
        assert len(members(grove.tag, [Root(root.pid, boot)])) == found


def test_another_tag_is_another_tree(grove: Grove) -> None:
    grove.start("stay()", tag=f"{grove.tag}.check")
    grove.start("stay()", tag=grove.tag)
    assert len(members(grove.tag)) == 1
    assert members(grove.tag[:-1]) == members(grove.tag + "x") == members("") == []


def test_neither_this_process_nor_its_ancestors_are_ever_members() -> None:
    line = [os.getpid(), *(parent.pid for parent in psutil.Process().parents())]
    found = {member.pid for member in members("", [root_of(pid) for pid in line])}
    assert not found & set(line)


def test_ended_process_keeps_its_exit_for_who_started_it(grove: Grove) -> None:
    process = grove.start(PROGRAMS["deaf"])
    assert end_tree(grove.tag, [root_of(process.pid)], grace_s=0.0) == ()
    assert process.wait() == -signal.SIGKILL


def test_root_is_one_process_and_a_zombie_is_not_alive(grove: Grove) -> None:
    process = grove.start("stay()")
    root = root_of(process.pid)
    assert alive(root)
    assert root == root_of(process.pid)
    process.kill()
    until(lambda: not alive(root))
    process.wait()
    assert root_of(process.pid) == Root(process.pid, "gone")
    assert not alive(root)
    assert not alive(Root(process.pid, "gone"))


def test_nothing_to_end_is_fast() -> None:
    began = time.monotonic()
    assert end_tree(f"t-{uuid.uuid4().hex}", [Root(2**22 - 1, "1/0")]) == ()
    assert time.monotonic() - began < 1


def test_what_cannot_be_ended_is_named(grove: Grove, monkeypatch: pytest.MonkeyPatch) -> None:
    process = grove.start("stay()")
    monkeypatch.setattr(processes, "_send", lambda row, number: None)
    assert end_tree(grove.tag, grace_s=0.0, deadline_s=0.3) == (process.pid,)


def test_without_process_handles_signals_go_by_number(grove: Grove, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    grove.start(PROGRAMS["own sessions"], 3)
    assert end_tree(grove.tag, grace_s=0.1) == ()
    assert grove.running() == set()


def test_table_of_other_systems_finds_the_same_tree(grove: Grove, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LINUX", False)
    monkeypatch.setattr(ancestry, "LINUX", False)
    process = grove.start(PROGRAMS["own sessions"], 3)
    root = root_of(process.pid)
    assert alive(root)
    assert {member.pid for member in members(grove.tag)} == grove.running()
    assert end_tree("", [root], grace_s=0.1) == ()
    assert grove.running() == set()


@pytest.mark.parametrize(
    ("tag", "other", "expected"),
    [
        ("l/g-1/u-1", "l/g-1/u-1", True),
        ("l/g-1", "l/g-1/u-1", True),
        ("l", "l/g-1/u-1.check", True),
        ("l/g-1", "l/g-10/u-1", False),
        ("l/g-1/u-1", "l/g-1/u-1.check", False),
        ("l/g-1/u-1", "l/g-1", False),
        ("l/g-1", "", False),
    ],
)
def test_a_tag_covers_those_below_it(tag: str, other: str, expected: bool) -> None:
    assert covers(tag, other) is expected
