"""Stop: nothing new starts, and every queued start, timer and message of the goals dies with their generation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import command, option
from loopx_engine.commands.goal import pause
from loopx_engine.errors import UsageError
from loopx_engine.model.goal import Goal
from loopx_engine.model.ids import number_of
from loopx_engine.model.turn import Turn


@command
class Stop:
    """Pauses one goal or all; the engine (or the caller, where none runs) then ends the turns with all their processes."""

    goal: str = option("the goal", id="goal")
    all: bool = option("every goal", default=False)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        if bool(self.goal) == self.all:
            raise UsageError("stop one goal, or --all", code="missing_argument", next="loopx stop --help")
        goals = [draft.need(Goal, self.goal)] if self.goal else draft.records(Goal, "goal.active")
        turns = [turn for turn in draft.records(Turn, "turn.all_live") if self.all or turn.goal == self.goal]
        paused = [pause(draft, goal, stopped=True).id for goal in goals if goal.phase == "active"]
        for name in sorted({turn.goal for turn in turns} - set(paused), key=number_of):
            goal = draft.need(Goal, name)
            draft.put(replace(goal, stopped=True, generation=goal.generation + 1))
        return {"goals": paused, "turns": [turn.id for turn in turns]}
