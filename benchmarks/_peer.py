"""LoopX 2.1.1, measured as it is installed in an environment somebody names; nothing of it is part of this project.

It keeps a helper process; that one's CPU during a call is added to the call's. It gets a home of its own and is told not to
report its use; the helper is ended at the end.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks._measure import Call, CallFailed, call

VERSION = "2.1.1"
GOAL, AGENT, TURN = "bench-goal", "bench-agent", "bench-turn"
WHO = ("--goal-id", GOAL, "--agent-id", AGENT)


class PeerAbsent(Exception):
    """There is no such peer to measure; the words say why."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn cost its agent: calls made, bytes read, and how many of the calls were refused."""

    calls: int
    bytes: int
    refused: int


class Peer:
    """The peer in one virtual environment, with a goal of its own in `folder`."""

    def __init__(self, venv: Path, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.program = venv / "bin" / "loopx"
        env = {name: value for name, value in os.environ.items() if not name.startswith(("LOOPX_", "PYTHON"))}
        self.env = {
            **env,
            "PATH": f"{venv / 'bin'}{os.pathsep}{env.get('PATH', '')}",
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
            "DO_NOT_TRACK": "1",
            "LOOPX_USAGE_PING": "0",
        }

    def say(self, *words: str, allowed: tuple[int, ...] = (0,)) -> Call:
        """One cold call, with its helper's CPU."""
        before = self._helper_cpu()
        made = call([str(self.program), *words], self.env, self.project, allowed=allowed)
        return replace(made, cpu_ms=made.cpu_ms + max(0.0, self._helper_cpu() - before))

    def prepare(self, todos: int) -> None:
        """A goal with some open todos and one agent."""
        self.project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q"], cwd=self.project, env=self.env, check=True, capture_output=True)
        self.say("bootstrap", "--project", ".", "--goal-id", GOAL, "--objective", "a goal to measure on")
        self.say("register-agent", *WHO, "--execute")
        for number in range(todos):
            self.todo_add(f"Todo number {number} of the many that are waiting for their turn")

    def todo_add(self, text: str) -> Call:
        return self.say("todo", "add", "--goal-id", GOAL, "--role", "agent", "--text", text)

    def should_run(self, *more: str) -> Call:
        return self.say("--format", "json", "quota", "should-run", *WHO, *more)

    def status(self) -> Call:
        return self.say("--format", "json", "status")

    def turn(self) -> Turn:
        """One turn as its own answers ask for it: told, asked, bound, claimed, completed, written back, accounted."""
        listed = json.loads(self.say("--format", "json", "todo", "list", "--goal-id", GOAL).out)
        todo = str(next(item["todo_id"] for item in listed["todos"] if item["status"] == "open"))
        bound = ("--todo-id", todo, "--turn-instance-id", TURN)
        key = ("--task-lease-idempotency-key", "bench-key")
        steps = (
            ("heartbeat-prompt", *WHO),
            ("quota", "should-run", *WHO, "--turn-instance-id", TURN),
            ("quota", "should-run", *WHO, *bound),
            ("todo", "claim", *WHO, "--todo-id", todo, "--claimed-by", AGENT, *key),
            ("todo", "complete", *WHO, "--todo-id", todo, "--claimed-by", AGENT, "--evidence", "it holds",
             "--no-follow-up", *key, "--task-lease-expected-version", "1"),
            ("refresh-state", *WHO, "--classification", "progress", *bound, "--delivery-outcome", "outcome_progress",
             "--delivery-batch-scale", "single_surface"),
            ("quota", "spend-slot", *WHO, *bound, "--slots", "1", "--source", "heartbeat", "--execute"),
        )  # fmt: skip
        calls = [self.say("--format", "json", *step, allowed=tuple(range(256))) for step in steps]
        return Turn(
            len(calls), sum(len(one.out) + len(one.err) for one in calls), sum(1 for one in calls if one.code != 0)
        )

    def end_helper(self) -> None:
        """Ends the processes that this peer's calls started and left."""
        import psutil

        for process in self._helpers():
            with contextlib.suppress(psutil.Error):
                process.terminate()
                process.wait(10)

    def _helpers(self) -> list[psutil.Process]:  # type: ignore[name-defined]  # noqa: F821
        import psutil

        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.pid != os.getpid() and any(str(self.folder) in word for word in process.cmdline()):
                    found.append(process)
        return found

    def _helper_cpu(self) -> float:
        import psutil

        used = 0.0
        for process in self._helpers():
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                used += (times.user + times.system) * 1000
        return used


@contextlib.contextmanager
def peer_in(venv: Path | None, folder: Path, todos: int) -> Iterator[Peer]:
    """The peer of an environment, ready with `todos` todos. Raises `PeerAbsent` with the reason there is none."""
    if venv is None:
        raise PeerAbsent("no environment was named (--peer-env DIR or LOOPX_PEER_ENV)")
    peer = Peer(venv.absolute(), folder)
    if not peer.program.is_file():
        raise PeerAbsent(f"there is no bin/loopx in {venv.name}")
    version = _version(venv)
    if version != VERSION:
        raise PeerAbsent(f"{venv.name} has loopx {version or 'of no known version'}; {VERSION} is compared")
    started = time.monotonic()
    try:
        peer.prepare(todos)
        yield peer
    except CallFailed as failed:
        raise PeerAbsent(f"{failed} (after {time.monotonic() - started:.0f} s)") from failed
    finally:
        peer.end_helper()


def _version(venv: Path) -> str:
    found = sorted(venv.glob("lib/python*/site-packages/loopx-*.dist-info"))
    return found[-1].name.removeprefix("loopx-").removesuffix(".dist-info") if found else ""
