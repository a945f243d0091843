"""Stage: a home, a git project and everybody who speaks, on a clock that is set by hand; a scene is played on it.

What is played goes through the engine's own verbs with a throw-away key, so that every receipt verifies. No agent and no
check runs: what they said is told by the scene, but trees, commits, branches and the remote are git's own.
"""

from __future__ import annotations

import heapq
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

from loopx_engine.clock import FakeClock
from loopx_engine.demo.person import Person
from loopx_engine.desk.opening import open_engine
from loopx_engine.engine import found
from loopx_engine.heartbeat.effects import carry_out_all, resolve_effect
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.opening import open_heart
from loopx_engine.heartbeat.proving import place_facts
from loopx_engine.host.paths import private_folder
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import LEASE_MS
from loopx_engine.model.goal import Goal
from loopx_engine.model.identity import Identity
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.places.git import run_git
from loopx_engine.places.make import make_place
from loopx_engine.places.repository import identity, need_repository
from loopx_engine.places.sandbox import Box

PLAIN_PATH = ("/usr/bin", "/bin")
PROGRAMS = {"claude": "2.1.332 (Claude Code)", "codex": "codex-cli 0.171.0"}
"""The agents' own programs that this machine has: each only says its version."""
NOW = 1_793_689_320_000
"""2026-11-03 07:02 UTC: when every scene is looked at."""
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
PROJECT = "shop-api"
SANDBOX = "bubblewrap"
AUTHOR = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "Ana"), ("EMAIL", "ana@localhost"), ("DATE", "2026-10-20T09:00:00 +0000"))
}
Story = Iterator[int]
"""A part of a scene: it yields the instant (UTC ms) at which it goes on."""


class Still(FakeClock):
    """A clock that stands still, and whose waiting is real: what a screen is drawn by."""

    def wait(self, event: Event, timeout: float) -> bool:
        return event.wait(timeout)


class Stage:
    """An engine on a new ledger in `folder`, its owner `ana`, and the project `shop-api` beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / PROJECT
        self.home = private_folder(folder / "home")
        self.environ = {
            "LOOPX_HOME": str(self.home), "LOOPX_KEYS": str(folder / "keys"), "HOME": str(folder),
            "PATH": os.pathsep.join([str(programs(folder / "bin")), os.path.dirname(shutil.which("git") or ""), *PLAIN_PATH]),
        }  # fmt: skip
        self.clock = FakeClock(NOW - 30 * DAY)
        self.engine = open_engine(self.environ, clock=self.clock)
        self.engine.ledger.connection().execute("pragma synchronous = off")  # type: ignore[attr-defined]
        found(self.engine, name="ana", host="desk")
        self.heart: Heart = open_heart(
            self.engine, self.home, self.environ, box=Box(kind="none", reason="nothing runs")
        )
        self.engine.sandbox = SANDBOX
        self._agents: dict[str, str] = {}

    def repository(self, files: dict[str, str]) -> None:
        """The project as a git repository: its first commit on `main`, in the checkout and in `origin`."""
        write(self.root, files)
        bare = self.folder / "origin.git"
        run_git(self.folder, "init", "--quiet", "--bare", "--initial-branch=main", str(bare))
        run_git(self.root, "init", "--quiet", "--initial-branch=main")
        run_git(self.root, "add", "--all")
        run_git(self.root, "commit", "--quiet", "-m", "A shop", env=AUTHOR)
        run_git(self.root, "remote", "add", "origin", str(bare))
        run_git(self.root, "push", "--quiet", "origin", "main", remote=True)

    def open_house(self, files: dict[str, str], agents: Sequence[tuple[str, str]]) -> None:
        """The owner's key, the project with its repository, and the agents (name, runtime)."""
        self.person = Person(self.engine, self.folder / "keys")
        self.repository(files)
        found_here = need_repository(self.root)
        self.project = self.say("project add", root=str(self.root), identity=identity(found_here))["project"]
        for name, runtime in agents:
            given = {"name": name, "runtime": runtime, "capability": ["plan"]}
            self._agents[name] = self.sign("actor add", **given)["actor"]

    def play(self, *stories: Story) -> None:
        """All stories, each step at its own time, as if they had happened beside each other."""
        waiting = [(next(story), number, story) for number, story in enumerate(stories)]
        heapq.heapify(waiting)
        while waiting:
            at, number, story = heapq.heappop(waiting)
            self.clock.set(at)
            following = next(story, None)
            if following is not None:
                heapq.heappush(waiting, (max(at, following), number, story))

    def close(self) -> None:
        """Frees the ledger. Whatever the pragma of the building left to the system is on disk then."""
        self.engine.ledger.connection().execute("pragma wal_checkpoint(truncate)").fetchall()  # type: ignore[attr-defined]
        self.engine.ledger.close()

    # -- the person and the engine ------------------------------------------------------------------------------------

    def say(self, verb: str, **arguments: Any) -> dict[str, Any]:
        return self.person.says(verb, **arguments).answer

    def sign(self, verb: str, **arguments: Any) -> dict[str, Any]:
        return self.person.signs(verb, **arguments).answer

    def act(self, verb: str, **arguments: Any) -> dict[str, Any]:
        return self.heart.act(verb, **arguments).answer

    def answer(self, decision: str, option: str, reason: str = "", **more: Any) -> dict[str, Any]:
        """The owner's signed answer to what is shown."""
        asked = self.heart.get(Decision, decision)
        given = {"basis": asked.basis, "goal": asked.goal, "reason": reason, **more}
        return self.sign("decision answer", decision=decision, option=option, **given)

    # -- goals --------------------------------------------------------------------------------------------------------

    def goal(self, title: str, *, active: bool = True, **given: Any) -> str:
        """A goal of the project with a place of its own, a worktree on its branch."""
        goal = str(self.sign("goal add", title=title, project=self.project, **given)["goal"])
        if active:
            self.start(goal)
        return goal

    def start(self, goal: str) -> None:
        """The plan signed; the engine makes the place."""
        self.sign("goal resume", goal=goal)
        path = private_folder(self.home / "places") / goal
        made = make_place("worktree", self.root, path, f"loopx/{goal}", None)
        place = self.act("place make", goal=goal, kind="worktree", path=str(path), branch=made.branch, base=made.base)
        self.act("place settle", place=place["place"], state="ready", sandbox=SANDBOX, base=made.base)

    def todos(self, goal: str, *titles: str, check: Sequence[str] = (), **given: Any) -> list[str]:
        """Todos in a row, each needing nothing."""
        more = {"check": list(check), **given} if check else given
        return [str(self.sign("todo add", goal=goal, title=title, **more)["todo"]) for title in titles]

    def place(self, goal: str) -> Place:
        """The goal's place. Raises `IndexError` where it has none yet."""
        return self._places(goal)[0]

    def criteria(self, goal: str) -> list[str]:
        """The ids of a goal's criteria, in order."""
        with self.engine.read() as reader:
            return [item.id for item in reader.records(Criterion, "criterion.of_goal", goal=goal)]

    # -- turns --------------------------------------------------------------------------------------------------------

    def begin(self, agent: str, goal: str, todo: str = "") -> Identity:
        """A turn of an agent that the engine runs; its transcript is where an engine keeps it."""
        actor = self._agents[agent]
        who = Identity(kind="agent", actor=actor, goal=goal)
        tree, _, _ = self._facts(goal)
        given = {"goal": goal, "tree": tree, "attended": True, **({"todo": todo} if todo else {})}
        turn = str(self.engine.run("turn begin", given, who).answer["turn"])
        transcript = self.heart.transcripts() / f"{turn}.log"
        self.act("turn start", turn=turn, pid=0, started="", sandbox=SANDBOX, transcript=str(transcript))
        return Identity(kind="agent", actor=actor, goal=goal, turn=turn)

    def speak(self, who: Identity, verb: str, **arguments: Any) -> dict[str, Any]:
        """A command of the turn."""
        return self.engine.run(verb, arguments, who).answer

    def edit(self, goal: str, files: dict[str, str]) -> None:
        """What an agent wrote into the goal's place."""
        write(Path(self.place(goal).path), files)

    def finish(
        self, who: Identity, summary: str, *, tail: str = "", count: int | None = None, passed: bool = True
    ) -> None:
        """The claim that it is done and what the engine's run of the check made of it; a proved tree is committed."""
        self.speak(who, "turn finish", turn=who.turn, outcome="done", summary=summary, no_successor="the plan goes on")
        self.settle(who, tail=tail, count=count, passed=passed)

    def settle(self, who: Identity, *, tail: str = "", count: int | None = None, passed: bool = True) -> None:
        """The engine's settling of a claim: on the place as it is, with what the check is told to have said."""
        tree, dirty, changed = self._facts(str(who.goal))
        turn = self._turn(who)
        check = self._check_of(turn)
        ran = (
            {"check": check, "outcome": "pass" if passed else "fail", "exit": 0 if passed else 1, "tail": tail}
            if check
            else {}
        )
        self.act(
            "turn settle", turn=turn.id, tree=tree, tree_now=tree, inputs=tree, changed=list(changed), dirty=dirty,
            mendable=not passed, count=count, sandbox=SANDBOX, started_at=self.clock.now() - 20 * SECOND, **ran,
        )  # fmt: skip
        carry_out_all(self.heart, str(who.goal))

    def review(self, agent: str, goal: str, todo: str, said: str) -> None:
        """A reviewer's turn that passes."""
        who = self.begin(agent, goal, todo)
        self.speak(who, "turn finish", turn=who.turn, outcome="done", result="pass", summary=said)
        self.settle(who)

    def use(self, who: Identity, tokens_in: int, tokens_out: int, cost: int) -> None:
        """What a turn used; `cost` in millionths."""
        self.act("turn usage", turn=who.turn, input=tokens_in, output=tokens_out, cost=cost)

    def transcript(self, who: Identity, lines: Sequence[str]) -> None:
        """What a live turn said so far."""
        path = Path(self._turn(who).transcript)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        path.chmod(0o600)

    def keep(self, who: Identity) -> None:
        """The lease of a live turn as an engine keeps it."""
        turn = self._turn(who)
        self.engine.ledger.renew(turn.todo or turn.goal, turn.epoch, NOW + LEASE_MS - 22 * SECOND)

    def ask_effect(
        self, who: Identity, question: str, why: str, effect: dict[str, Any], blocks: Sequence[str] = ()
    ) -> str:
        """The turn asks for an act outside; the engine resolves what it would be now."""
        resolved = resolve_effect(self.heart, self.heart.get(Goal, str(who.goal)), effect)
        given = {"goal": who.goal, "question": question, "why": why, "effect": resolved, "blocks": list(blocks)}
        return str(self.speak(who, "decision ask", **given)["decision"])

    def ran(self, effect: str, detail: str) -> None:
        """An act outside that went well."""
        self.act("effect attempt", effect=effect)
        self.act("effect settle", effect=effect, state="done", detail=detail)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _turn(self, who: Identity) -> Turn:
        return self.heart.get(Turn, str(who.turn))

    def _places(self, goal: str) -> list[Place]:
        with self.engine.read() as reader:
            return reader.records(Place, "place.of_goal", goal=goal)

    def _facts(self, goal: str) -> tuple[str, bool, tuple[str, ...]]:
        return place_facts(next(iter(self._places(goal)), None))

    def _check_of(self, turn: Turn) -> str:
        """The check the engine would run for a claim of this turn."""
        if turn.purpose != "work" or turn.todo is None:
            return ""
        return self.heart.get(Todo, turn.todo).check or self.heart.get(Goal, turn.goal).check or ""


def programs(folder: Path) -> Path:
    """The folder with `PROGRAMS` in it."""
    folder.mkdir()
    for name, version in PROGRAMS.items():
        (folder / name).write_text(f"#!/bin/sh\necho '{version}'\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def write(root: Path, files: dict[str, str]) -> None:
    """Writes files below a folder, by their names in it."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
