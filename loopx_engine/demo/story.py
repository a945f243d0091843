"""The story: a person sets a goal, an agent works it in a box, the engine proves it, a person decides what only a person may.

The person here is played by the demo with a throw-away key; everything else is the engine as it always runs.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from loopx_engine.cli.keeping import problems_of
from loopx_engine.demo.person import Person
from loopx_engine.demo.project import checkout_digest, make_project
from loopx_engine.demo.telling import Teller
from loopx_engine.desk.opening import open_engine
from loopx_engine.engine import found
from loopx_engine.heartbeat.opening import open_heart
from loopx_engine.heartbeat.scheduler import Scheduler
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.places.commits import log
from loopx_engine.places.integrate import read_remote
from loopx_engine.places.processes import Root, end_tree
from loopx_engine.places.repository import find_repository, identity
from loopx_engine.places.sandbox import Box

DEADLINE_S = 180.0
LOOK_S = 0.2
KILLED_TODO = "discount"


class Story:
    """One run in one folder. `run()` is True when all of it came true."""

    def __init__(self, folder: Path, *, sandbox: bool = True) -> None:
        self.folder = folder
        self.environ = {**os.environ, "LOOPX_HOME": str(folder / "home"), "LOOPX_KEYS": str(folder / "keys")}
        self.environ.pop("LOOPX_LEDGER", None)
        self.engine = open_engine(self.environ)
        found(self.engine, name="person", host="demo")
        self.box = None if sandbox else Box(kind="none", reason="asked for with --no-sandbox")
        self.teller = Teller(self.engine, self.say)
        self.goal = ""
        self.killed = False
        self.refused = 0
        self.failures: list[str] = []

    def say(self, text: str = "") -> None:
        print(text, flush=True)

    def run(self) -> bool:
        """Tells the story and checks every claim it makes."""
        self.say("LoopX demo: one goal on a real git project in a temporary folder")
        root = make_project(self.folder)
        before = checkout_digest(root)
        self.say(
            "the project has a failing test suite, a bare remote, and an edit in README.md that is not saved to git"
        )
        self.say("the person is played by this demo with a throw-away key made for this run only")
        person = Person(self.engine, self.folder / "keys")
        self._plan(person, root)
        heart = open_heart(self.engine, self.folder / "home", self.environ, box=self.box)
        self.say(f"sandbox: {heart.box.kind}" if heart.box.kind != "none" else f"not sandboxed: {heart.box.reason}")
        scheduler = Scheduler(heart, starts_a_minute=60)
        thread = threading.Thread(target=scheduler.run, name="engine", daemon=True)
        thread.start()
        try:
            self._watch(person, thread)
        finally:
            scheduler.stop()
            thread.join(10)
            self.teller.tell()
        return self._conclude(root, before)

    # -- the person -------------------------------------------------------------------------------------------------

    def _plan(self, person: Person, root: Path) -> None:
        python = sys.executable
        repository = find_repository(root)
        assert repository is not None
        project = person.says(
            "project add",
            root=str(root),
            identity=identity(repository),
            remotes=[list(pair) for pair in repository.remotes],
        ).answer["project"]
        program = [python, str(Path(__file__).with_name("agent.py"))]
        person.signs("actor add", name="worker", runtime="command", argv=program)
        self.goal = person.signs(
            "goal add",
            title="Make the shop count right",
            objective="Totals, rounding and discounts are right, and the changelog says so.",
            project=project,
            criterion=[
                ["the whole test suite passes", [python, "-m", "unittest", "discover"]],
                ["the changelog names the changes", [python, "-m", "unittest", "tests.test_changelog"]],
                ["a person has read the change", []],
            ],
            agent=["worker"],
            autonomy="unattended",
            budget="turns=20,days=1",
        ).answer["goal"]
        last = ""
        for title, test in (
            ("Count quantities in the total", "totals"),
            ("Round prices half up", "rounding"),
            ("Write the discount rules", "discount"),
            ("Write the changelog and release", "changelog"),
        ):
            needs: dict[str, Any] = {"needs": [last]} if last else {}
            last = person.signs(
                "todo add", goal=self.goal, title=title, check=[python, "-m", "unittest", f"tests.test_{test}"],
                serves=[1, 2] if test == "changelog" else [1], **needs,
            ).answer["todo"]  # fmt: skip
        person.signs("grant add", kind="push", pattern="origin/preview/*", goal=self.goal, uses=3)
        person.signs("goal resume", goal=self.goal)

    def _watch(self, person: Person, engine: threading.Thread) -> None:
        until = time.monotonic() + DEADLINE_S
        while time.monotonic() < until and engine.is_alive():
            self.teller.tell()
            with self.engine.read() as reader:
                goal = reader.get(Goal, self.goal)
                turns = reader.records(Turn, "turn.live", goal=self.goal)
                asked = reader.records(Decision, "decision.open", goal=self.goal)
                criteria = reader.records(Criterion, "criterion.of_goal", goal=self.goal)
            if goal is not None and goal.phase == "done":
                return
            for turn in turns:
                self._kill_once(turn)
            for decision in asked:
                self._answer(person, decision, criteria)
            self.engine.ledger.wait_for_change(self.teller.after, LOOK_S)
        self.failures.append("the goal was not done in time")

    def _kill_once(self, turn: Turn) -> None:
        """Kills the agent with SIGKILL once it wrote half a file: nobody told the engine."""
        if self.killed or not turn.pid or turn.todo is None:
            return
        with self.engine.read() as reader:
            todo = reader.get(Todo, turn.todo)
        if todo is None or KILLED_TODO not in todo.title or not Path(turn.transcript).is_file():
            return
        if "half of it is written" not in Path(turn.transcript).read_text(encoding="utf-8"):
            return
        self.killed = True
        self.say("  demo  kills the agent in the middle of its turn (SIGKILL)")
        end_tree(turn.tag, (Root(pid=turn.pid, started=turn.pid_started),), grace_s=0.0)

    def _answer(self, person: Person, decision: Decision, criteria: list[Criterion]) -> None:
        """Plays the person: reads what is asked, exactly, and answers it with the throw-away key."""
        self.teller.tell()
        if decision.kind == "effect" and decision.effect is not None:
            effect = decision.effect
            act = f"push {str(effect['sha'])[:10]} to {effect['remote']}/{effect['ref']}"
            self.say(f"person  sees: {act}, types {decision.goal} and a reason")
            person.signs(
                "decision answer", decision=decision.id, option="yes", goal=decision.goal, basis=decision.basis,
                reason="every commit in it is proved",
            )  # fmt: skip
            return
        unread = next((item for item in criteria if item.check is None and item.state == "open"), None)
        if unread is not None:
            self.say("person  reads the branch and confirms the criterion that no check can prove")
            person.signs("criterion meet", criterion=unread.id, reason="the demo's person looked at the difference")
            return
        if decision.cause.startswith("criterion_gap"):
            return
        if decision.kind == "proposal":
            person.signs(
                "decision answer",
                decision=decision.id,
                option="yes",
                basis=decision.basis,
                goal=decision.goal,
                reason="done",
            )
            return
        self.failures.append(f"an unexpected question: {decision.question}")
        person.signs(
            "decision answer", decision=decision.id, option="no", basis=decision.basis, goal=decision.goal, reason="no"
        )

    # -- the end ----------------------------------------------------------------------------------------------------

    def _conclude(self, root: Path, before: str) -> bool:
        with self.engine.read() as reader:
            goal = reader.get(Goal, self.goal)
            criteria = reader.records(Criterion, "criterion.of_goal", goal=self.goal)
            todos = reader.records(Todo, "todo.of_goal", goal=self.goal, limit=100)
            turns = reader.records(Turn, "turn.of_goal", goal=self.goal, limit=100)
        assert goal is not None
        commits = log(root, f"loopx/{self.goal}", None)
        told = [item for item in commits if "LoopX-Todo" in item.trailers]
        problems = problems_of(self.engine)
        met = sum(item.state == "met" for item in criteria)
        proved = [todo for todo in todos if todo.state == "done" and todo.proof == "proved"]
        released = read_remote(root, "origin", "main") != read_remote(root, "origin", f"preview/{self.goal}")
        for wrong, what in (
            (checkout_digest(root) != before, "the person's checkout changed"),
            (
                len(told) != len(todos) or len({c.trailers["LoopX-Todo"] for c in told}) != len(todos),
                "not one commit a todo",
            ),
            (len(proved) != len(todos), "a todo is not proved"),
            (not self.killed, "the agent was never killed"),
            (not any(turn.mends for turn in turns), "no false claim was refused"),
            (released, "what a person released is not what was proved"),
            (goal.phase != "done", f"the goal is {goal.phase}"),
            (bool(problems), f"verify found {problems[:1]}"),
        ):
            if wrong:
                self.failures.append(what)
        self.say()
        for item in reversed(told):
            self.say(
                f"commit  {item.sha[:10]}  {item.trailers['LoopX-Todo']}  {item.trailers['LoopX-Receipt']:>6}  {item.subject}"
            )
        self.say(
            f"the person's checkout with its unsaved edit: {'untouched' if checkout_digest(root) == before else 'CHANGED'}"
        )
        for failure in self.failures:
            self.say(f"FAILED: {failure}")
        self.say(f"goal {goal.id} {goal.phase}")
        self.say(f"criteria met: {met} of {len(criteria)}")
        receipts = self.engine.ledger.last_seq()
        self.say(
            f"receipts verified: {receipts}" if not problems else f"receipts NOT verified: {len(problems)} findings"
        )
        self.engine.ledger.close()
        return not self.failures
