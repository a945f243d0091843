"""A house with a heart for tests: a real git project, a signing owner, agents as small programs, and an engine's threads.

Nothing is played but the person's key, which is made for the test. Agents are Python programs of a few lines in the test's
folder: `say(**message)`, `hear()` and `packet` are there for them. Tests wait on conditions with a deadline, never on time.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from support import ROOT, absent, clean_environment, require

from loopx_engine.demo.person import Person
from loopx_engine.desk.opening import open_engine
from loopx_engine.engine import found
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.opening import open_heart
from loopx_engine.heartbeat.scheduler import Scheduler
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.lease import Lease
from loopx_engine.model.place import Place
from loopx_engine.model.record import R
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.places.processes import members
from loopx_engine.places.repository import find_repository, identity
from loopx_engine.places.sandbox import Box, probe

NO_BOX = Box(kind="none", reason="asked for by the test")
DEADLINE_S = 40.0
PRELUDE = """
import json, os, pathlib, signal, subprocess, sys, time

def say(**message):
    print(json.dumps(message), flush=True)

def hear():
    line = sys.stdin.readline()
    return json.loads(line) if line else {"type": "closed"}

def done(summary="done", **more):
    say(type="result", outcome="done", summary=summary, no_successor="nothing follows", **more)

def write(name, text):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

packet = hear()
title = packet["todo"]["title"] if packet["todo"] else ""
"""
GREETS = ("grep", "-q", "ho", "a")
SAYS_HO = 'write("a", "ho\\n"); done("it says ho")'


def need_box() -> None:
    """Skips (or fails in CI) where this machine has no sandbox."""
    box = probe()
    if box.kind == "none":
        absent(f"no sandbox: {box.reason}")


def until(condition: Callable[[], Any], what: str, deadline_s: float = DEADLINE_S) -> Any:
    """The first true value of the condition. Fails, saying what was waited for, when the deadline passes."""
    ends = time.monotonic() + deadline_s
    while True:
        found_now = condition()
        if found_now:
            return found_now
        assert time.monotonic() < ends, f"waited {deadline_s} s for: {what}"
        time.sleep(0.02)


class House:
    """One home with its keys, one project, and whatever a test puts in it."""

    def __init__(self, folder: Path, *, git: bool = True) -> None:
        require("git")
        self.folder = folder
        self.home = folder / "home"
        self.keys = folder / "keys"
        self.root = folder / "project"
        self.environ = {
            **clean_environment(),
            "LOOPX_HOME": str(self.home),
            "LOOPX_KEYS": str(self.keys),
            "PYTHONPATH": str(ROOT),
        }
        self.root.mkdir()
        (self.root / "a").write_text("hi\n", encoding="utf-8")
        if git:
            self.git("init", "-q", "-b", "main")
            self.git("add", "-A")
            self.git("commit", "-q", "-m", "begin")
        self.engine = open_engine(self.environ)
        found(self.engine, name="ada", host="here")
        self.person = Person(self.engine, self.keys)
        self.project = self._enter(git)
        self.events: list[dict[str, Any]] = []

    # -- the project ------------------------------------------------------------------------------------------------

    def git(self, *argv: str, at: Path | None = None) -> str:
        who = {
            f"GIT_{role}_{field}": value
            for role in ("AUTHOR", "COMMITTER")
            for field, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
        }
        done = subprocess.run(
            ["git", *argv], cwd=at or self.root, env={**clean_environment(), **who}, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "replace").strip()

    def bare_remote(self) -> Path:
        """A bare repository as `origin`, with `main` in it."""
        remote = self.folder / "remote.git"
        self.git("init", "-q", "--bare", "-b", "main", str(remote))
        self.git("remote", "add", "origin", str(remote))
        self.git("push", "-q", "origin", "main")
        return remote

    def subjects(self, branch: str) -> list[str]:
        """The subjects of a branch, newest first."""
        return self.git("log", "--format=%s", branch).splitlines()

    def _enter(self, git: bool) -> str:
        if not git:
            return str(self.person.says("project add", root=str(self.root), identity="", remotes=[]).answer["project"])
        repository = find_repository(self.root)
        assert repository is not None
        return str(
            self.person.says(
                "project add",
                root=str(self.root),
                identity=identity(repository),
                remotes=[list(pair) for pair in repository.remotes],
            ).answer["project"]
        )

    # -- who and what -----------------------------------------------------------------------------------------------

    def program(self, name: str, body: str) -> Path:
        """An agent's program: the prelude, then the body."""
        path = self.folder / f"{name}.py"
        path.write_text(PRELUDE + textwrap.dedent(body), encoding="utf-8")
        return path

    def agent(self, body: str, name: str = "bot", **more: Any) -> str:
        """Registers an agent that runs this program. Returns its id."""
        argv = [sys.executable, str(self.program(name, body))]
        answer = self.person.signs("actor add", name=name, runtime="command", argv=argv, **more)
        return str(answer.answer["actor"])

    def goal(self, title: str = "Say ho", *, resume: bool = False, **more: Any) -> str:
        """A goal of this project with the budget of ten turns unless the test says otherwise."""
        given = {"budget": "turns=10,days=1", **more}
        goal = str(self.person.signs("goal add", title=title, project=self.project, **given).answer["goal"])
        if resume:
            self.resume(goal)
        return goal

    def todo(self, goal: str, title: str = "Write ho", *, check: tuple[str, ...] = GREETS, **more: Any) -> str:
        """A todo with a check, signed."""
        given = {"check": list(check)} if check else {}
        return str(self.person.signs("todo add", goal=goal, title=title, **given, **more).answer["todo"])

    def resume(self, goal: str) -> None:
        self.person.signs("goal resume", goal=goal)

    def ready(self, body: str = SAYS_HO, *, check: tuple[str, ...] = GREETS, **more: Any) -> tuple[str, str]:
        """(goal, todo): an agent with this program, an active goal and one todo for it."""
        self.agent(body)
        goal = self.goal(**more)
        todo = self.todo(goal, check=check)
        self.resume(goal)
        return goal, todo

    # -- the engine -------------------------------------------------------------------------------------------------

    def heart(self, *, box: Box | None = None) -> Heart:
        return open_heart(self.engine, self.home, self.environ, box=box, log=self._log)

    def _log(self, event: str, **fields: Any) -> None:
        self.events.append({"event": event, **fields})

    def once(self, *, box: Box | None = None, **more: Any) -> Heart:
        """Runs the engine until nothing is due, like `loopx-engine once`, within the deadline."""
        heart = self.heart(box=box)
        run_until_idle(heart, **more)
        return heart

    @contextmanager
    def running(self, *, box: Box | None = None, **more: Any) -> Iterator[Scheduler]:
        """The engine in a thread while the block runs."""
        scheduler = Scheduler(self.heart(box=box), **{"starts_a_minute": 60, **more})
        thread = threading.Thread(target=scheduler.run, daemon=True)
        thread.start()
        try:
            yield scheduler
        finally:
            scheduler.stop()
            thread.join(10)
            assert not thread.is_alive(), "the engine did not stop"

    def engine_process(self, *arguments: str, environ: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """The command `loopx-engine` as a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "loopx_engine.cli.engine_main", *arguments],
            env={**self.environ, **(environ or {})},
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def loopx(self, *arguments: str, environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """The command `loopx`, as a person calls it."""
        return subprocess.run(
            [sys.executable, "-m", "loopx_engine.cli.main", *arguments],
            env={**self.environ, **(environ or {})},
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    # -- what is there now ------------------------------------------------------------------------------------------

    def get(self, cls: type[R], identifier: str) -> R:
        with self.engine.read() as reader:
            record = reader.get(cls, identifier)
        assert record is not None, f"no {identifier}"
        return record

    def records(self, cls: type[R], statement: str, **given: Any) -> list[R]:
        with self.engine.read() as reader:
            return reader.records(cls, statement, **given)

    def todo_now(self, todo: str) -> Todo:
        return self.get(Todo, todo)

    def turns(self, goal: str) -> list[Turn]:
        """The turns of a goal, oldest first."""
        found_turns = self.records(Turn, "turn.of_goal", goal=goal, limit=100)
        return sorted(found_turns, key=lambda turn: int(turn.id[2:]))

    def live(self, goal: str) -> list[Turn]:
        return self.records(Turn, "turn.live", goal=goal)

    def asked(self, goal: str) -> list[Decision]:
        return self.records(Decision, "decision.open", goal=goal)

    def places(self, goal: str) -> list[Place]:
        return self.records(Place, "place.of_goal", goal=goal)

    def place(self, goal: str) -> Place:
        return self.places(goal)[0]

    def goal_now(self, goal: str) -> Goal:
        return self.get(Goal, goal)

    def processes(self, goal: str = "") -> list[int]:
        """The processes that run for a goal of this house (or for any), by their tags."""
        tag = "/".join(filter(None, (self.engine.ledger.id[:16], goal)))
        return [process.pid for process in members(tag)]

    def lease_is_free(self, subject: str) -> bool:
        with self.engine.read() as reader:
            lease = reader.get(Lease, subject)
        return lease is None or not lease.live(self.engine.clock.now())

    def transcript(self, turn: Turn) -> str:
        path = self.home / "transcripts" / f"{turn.id}.log"
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def turn_says(self, goal: str, text: str) -> Turn:
        """Waits until a live turn of the goal has this text in its transcript."""

        def said() -> Turn | None:
            return next((turn for turn in self.live(goal) if text in self.transcript(turn)), None)

        turn = until(said, f"a turn of {goal} that says {text!r}; last events: {self.events[-5:]}")
        assert isinstance(turn, Turn)
        return turn

    def answer(self, decision: Decision, option: str, **more: Any) -> dict[str, Any]:
        """The owner's signed answer, with goal and reason as a high risk needs them."""
        given = {"goal": decision.goal, "reason": "the test says so", **more}
        return self.person.signs(
            "decision answer", decision=decision.id, option=option, basis=decision.basis, **given
        ).answer

    def sound(self) -> None:
        """All receipts verify and the state equals their fold."""
        assert self.engine.ledger.verify() == []
        assert self.engine.ledger.rebuild() == []


def run_until_idle(heart: Heart, **more: Any) -> None:
    """The engine of this heart until nothing is due. Fails where that takes past the deadline."""
    scheduler = Scheduler(heart, **{"starts_a_minute": 60, **more})
    thread = threading.Thread(target=scheduler.run, kwargs={"until_idle": True}, daemon=True)
    thread.start()
    thread.join(DEADLINE_S)
    if thread.is_alive():
        scheduler.stop()
        thread.join(10)
        raise AssertionError(f"the engine was not idle within {DEADLINE_S} s")


def photograph(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes: what must stay as it is."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        for path in sorted(folder.rglob("*"))
    }


def idle_cpu(process: psutil.Process, seconds: float) -> float:
    """The share of a core a process used over some seconds."""
    before = process.cpu_times()
    time.sleep(seconds)
    after = process.cpu_times()
    return (after.user + after.system - before.user - before.system) / seconds
