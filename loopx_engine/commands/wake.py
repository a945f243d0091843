"""Wake: when the engine looks at a goal again, and why."""

from __future__ import annotations

from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import command, hidden
from loopx_engine.model.goal import Goal
from loopx_engine.model.wake import Wake


@command
class WakeSet:
    """Sets the one wake of a goal. `verdict` and `repeats` let the same answer on an unchanged frontier slow down.

    What was written after the engine looked is not slept over: then the goal is due at once.
    """

    goal: str = hidden("the goal", id="goal")
    due: int = hidden("UTC milliseconds")
    pace: str = hidden("the back-off class")
    cause: str = hidden("why", default="", most=500)
    verdict: str = hidden("the digest of the verdict it follows", default="")
    repeats: int = hidden("how often that verdict came unchanged", default=0)
    seen: int = hidden("the last receipt the engine looked at; -1: set it whatever came since", default=-1)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        moved = self.seen >= 0 and bool(draft.rows("receipt.newer", stream=goal.id, after=self.seen))
        due = min(self.due, context.now) if moved else self.due
        set_wake(draft, goal, due, self.pace, self.cause, self.verdict, self.repeats)
        return {"goal": goal.id, "due": due}


def set_wake(draft: Draft, goal: Goal, due: int, pace: str, cause: str, verdict: str = "", repeats: int = 0) -> Wake:
    """The goal's wake, made or moved; it carries the goal's generation and dies with it."""
    fresh = Wake(
        id=goal.id, due=due, pace=pace, cause=cause, verdict=verdict, repeats=repeats, generation=goal.generation
    )
    return draft.put(fresh)
