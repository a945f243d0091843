"""Conditions of waiting todos, looked at by the engine: what came true opens its todo.

What the ledger and the file system answer at once is looked at in passing; a `command` runs in its goal's box, in a thread
of its goal, at once and then ever more rarely.
"""

from __future__ import annotations

import shlex
from itertools import islice
from pathlib import Path

from loopx_engine.heartbeat.heart import Heart
from loopx_engine.model.condition import Condition, ConditionKind, parse_condition
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import MINUTE
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo
from loopx_engine.rules.backoff import next_due

MOST_A_LOOK = 200
AT_ONCE: tuple[ConditionKind, ...] = ("at", "done", "decided", "file")


class Conditions:
    """Remembers when each command was tried; a new engine begins anew."""

    def __init__(self, heart: Heart) -> None:
        self.heart = heart
        self._tries: dict[str, tuple[int, int]] = {}

    def open_ready(self, goal: Goal, kinds: tuple[ConditionKind, ...] = AT_ONCE) -> int:
        """Opens the waiting todos whose condition holds, as far as no program must run. Returns how many."""
        place = None
        opened = 0
        for todo, condition in self._waiting(goal):
            if condition.kind not in kinds:
                continue
            if condition.kind == "file" and place is None:
                place = self._place(goal)
            if self._holds(condition, place):
                self.heart.act("todo ready", todo=todo.id)
                opened += 1
        return opened

    def commands_due(self, goal: Goal) -> list[Todo]:
        """The todos whose command is to be tried now; none while the goal has no place to run it in."""
        now = self.heart.clock.now()
        waiting = [todo for todo, condition in self._waiting(goal) if condition.kind == "command"]
        due = [todo for todo in waiting if self._tries.get(todo.id, (0, 0))[1] <= now]
        return due if due and self._place(goal) is not None else []

    def next_try(self, goal: Goal) -> int | None:
        """When the next command is due (UTC ms)."""
        named = [todo.id for todo, condition in self._waiting(goal) if condition.kind == "command"]
        return min((self._tries[name][1] for name in named if name in self._tries), default=None)

    def try_commands(self, goal: Goal, todos: list[Todo]) -> None:
        """Runs the commands in the goal's box; opens the todos of those that end with 0."""
        place = self._place(goal)
        for todo in todos if place is not None else ():
            assert place is not None
            argv = tuple(shlex.split(parse_condition(todo.wait or "").argument))
            result = self.heart.run_in_box(
                place, argv, tag=f"{todo.id}.condition", timeout_ms=MINUTE, network=goal.network
            )
            if result.state == "stopped":
                return
            if result.state == "exited" and result.exit == 0:
                self._tries.pop(todo.id, None)
                self.heart.act("todo ready", todo=todo.id)
                continue
            times = self._tries.get(todo.id, (0, 0))[0]
            self._tries[todo.id] = (times + 1, next_due("others", times, self.heart.clock.now(), seed=todo.id))

    def _waiting(self, goal: Goal) -> list[tuple[Todo, Condition]]:
        with self.heart.engine.read() as reader:
            waiting = reader.records(Todo, "todo.waiting", goal=goal.id, limit=MOST_A_LOOK)
        return [(todo, parse_condition(todo.wait)) for todo in waiting if todo.wait]

    def _place(self, goal: Goal) -> Place | None:
        with self.heart.engine.read() as reader:
            places = reader.records(Place, "place.of_goal", goal=goal.id)
        return next((item for item in places if item.state == "ready"), None)

    def _holds(self, condition: Condition, place: Place | None) -> bool:
        heart = self.heart
        if condition.kind == "at":
            return int(condition.argument) <= heart.clock.now()
        if condition.kind == "done":
            with heart.engine.read() as reader:
                needed = reader.get(Todo, condition.argument)
            return needed is not None and needed.state == "done"
        if condition.kind == "decided":
            with heart.engine.read() as reader:
                decision = reader.get(Decision, condition.argument)
                return bool(decision and decision.answer and heart.engine.trust_of(reader)(decision))
        if condition.kind == "file" and place is not None:
            return _is_there(Path(place.path), condition.argument)
        return False


def _is_there(root: Path, pattern: str) -> bool:
    """Whether a glob below the root meets something; one that leads out of it, or is none, never does."""
    try:
        found = islice(root.glob(pattern.lstrip("/")), MOST_A_LOOK)
        return any(path.resolve().is_relative_to(root.resolve()) for path in found)
    except (OSError, ValueError, NotImplementedError, RuntimeError):
        return False
