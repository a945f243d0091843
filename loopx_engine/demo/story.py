"""The story: a person sets a goal, an agent works it in a box, the engine proves it, a person decides what only a person may.

The person here is played by the demo with a throw-away key; everything else is the engine as it always runs.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

from loopx_engine.demo.stage import Stage
from loopx_engine.demo.standing import Standing, said_of, standing_of
from loopx_engine.demo.telling import Teller
from loopx_engine.heartbeat.opening import open_heart
from loopx_engine.heartbeat.scheduler import Scheduler
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.places.integrate import read_remote
from loopx_engine.places.processes import Root, end_tree
from loopx_engine.places.sandbox import Box

DEADLINE_S = 180.0
LOOK_S = 0.2
KILLED_TODO = "discount"


class Story:
    """One run on one stage. `run()` is True when all of it came true."""

    def __init__(self, stage: Stage, *, sandbox: bool = True) -> None:
        self.stage = stage
        self.engine = stage.engine
        box = None if sandbox else Box(kind="none", reason="asked for with --no-sandbox")
        self.heart = open_heart(self.engine, stage.home, stage.environ, box=box)
        self.teller = Teller(self.engine, self.say)
        self.killed = False
        self.failures: list[str] = []

    def say(self, text: str = "") -> None:
        print(text, flush=True)

    def run(self) -> bool:
        """Tells the story and checks every claim it makes."""
        self.say("LoopX demo: one goal on a real git project in a temporary folder")
        self.say(
            "the project has a failing test suite, a bare remote, and an edit in README.md that is not saved to git"
        )
        self.say("the person is played by this demo with a throw-away key made for this run only")
        self.stage.plan()
        box = self.heart.box
        self.say(f"sandbox: {box.kind}" if box.kind != "none" else f"not sandboxed: {box.reason}")
        scheduler = Scheduler(self.heart, starts_a_minute=60)
        thread = threading.Thread(target=scheduler.run, name="engine", daemon=True)
        thread.start()
        try:
            self._watch(thread)
        finally:
            scheduler.stop()
            thread.join(10)
            self.teller.tell()
        return self._conclude()

    # -- the person -------------------------------------------------------------------------------------------------

    def _watch(self, engine: threading.Thread) -> None:
        until = time.monotonic() + DEADLINE_S
        while time.monotonic() < until and engine.is_alive():
            self.teller.tell()
            with self.engine.read() as reader:
                goal = reader.get(Goal, self.stage.goal)
                turns = reader.records(Turn, "turn.live", goal=self.stage.goal)
                asked = reader.records(Decision, "decision.open", goal=self.stage.goal)
                criteria = reader.records(Criterion, "criterion.of_goal", goal=self.stage.goal)
            if goal is not None and goal.phase == "done":
                return
            for turn in turns:
                self._kill_once(turn)
            for decision in asked:
                self._answer(decision, criteria)
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
        root = Root(pid=turn.pid, started=turn.pid_started)
        end_tree(self.heart.tag(turn.goal, turn.id), (root,), grace_s=0.0)

    def _answer(self, decision: Decision, criteria: list[Criterion]) -> None:
        """Plays the person: reads what is asked, exactly, and answers it with the throw-away key."""
        self.teller.tell()
        if decision.kind == "effect" and decision.effect is not None:
            effect = decision.effect
            act = f"push {str(effect['sha'])[:10]} to {effect['remote']}/{effect['ref']}"
            self.say(f"person  sees: {act}, types {decision.goal} and a reason")
            self._decide(decision, "yes", "every commit in it is proved")
            return
        unread = next((item for item in criteria if item.check is None and item.state == "open"), None)
        if unread is not None:
            self.say("person  reads the branch and confirms the criterion that no check can prove")
            reason = "the demo's person looked at the difference"
            self.stage.person.signs("criterion meet", criterion=unread.id, reason=reason)
        elif decision.kind == "proposal" and not decision.cause.startswith("criterion_gap"):
            self._decide(decision, "yes", "done")
        elif not decision.cause.startswith("criterion_gap"):
            self.failures.append(f"an unexpected question: {decision.question}")
            self._decide(decision, "no", "no")

    def _decide(self, decision: Decision, option: str, reason: str) -> None:
        given = {"decision": decision.id, "option": option, "goal": decision.goal, "basis": decision.basis}
        self.stage.person.signs("decision answer", **given, reason=reason)

    # -- the end ----------------------------------------------------------------------------------------------------

    def _conclude(self) -> bool:
        now = standing_of(self.stage, self.engine)
        self.failures += [*now.broken, *self._untold(now)]
        self.say()
        for line in said_of(now, self.failures):
            self.say(line)
        self.engine.ledger.close()
        return not self.failures

    def _untold(self, now: Standing) -> list[str]:
        """What the story promises and did not come true."""
        root, preview = self.stage.root, f"preview/{self.stage.goal}"
        told = {item.trailers["LoopX-Todo"] for item in now.commits}
        proved = [todo for todo in now.todos if todo.state == "done" and todo.proof == "proved"]
        promised = (
            (len(now.commits) == len(told) == len(now.todos), "not one commit a todo"),
            (len(proved) == len(now.todos), "a todo is not proved"),
            (self.killed, "the agent was never killed"),
            (any(turn.mends for turn in now.turns), "no false claim was refused"),
            (
                read_remote(root, "origin", "main") == read_remote(root, "origin", preview),
                "what a person released is not what was proved",
            ),
            (now.goal.phase == "done", f"the goal is {now.goal.phase}"),
        )
        return [what for true, what in promised if not true]
