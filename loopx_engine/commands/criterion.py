"""Criterion: adding, waiving and, where it has no check, meeting one. All are a person's signed word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.check import make_check
from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, option
from loopx_engine.errors import Refused
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.goal import Goal
from loopx_engine.model.limits import ARGV_BYTES, BODY_BYTES, CRITERIA_A_GOAL, CRITERION_CHARACTERS


@command
class CriterionAdd:
    """Adds an acceptance condition to a goal."""

    goal: str = argument("the goal", id="goal")
    text: str = argument("the condition", most=CRITERION_CHARACTERS)
    check: tuple[str, ...] = option("argv that proves it", default=(), most=ARGV_BYTES)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        if goal.phase in ("done", "archived"):
            raise Refused(f"{goal.id} is {goal.phase}", code="goal_ended", next=f"loopx goal reopen {goal.id}")
        made = add_criterion(draft, context, goal.id, self.text, self.check)
        draft.put(replace(draft.need(Goal, goal.id), revision=goal.revision + 1))
        return {"criterion": made.id, "number": made.number}


@command
class CriterionWaive:
    """Gives up a condition, with a reason."""

    criterion: str = argument("the criterion", id="criterion")
    reason: str = option("why", most=BODY_BYTES, unit="bytes")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        criterion = draft.need(Criterion, self.criterion)
        draft.put(replace(criterion, state="waived", reason=self.reason))
        return {"criterion": criterion.id, "state": "waived"}


@command
class CriterionMeet:
    """Confirms a condition that no check can prove."""

    criterion: str = argument("the criterion", id="criterion")
    reason: str = option("what was looked at", most=BODY_BYTES, unit="bytes")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        criterion = draft.need(Criterion, self.criterion)
        if criterion.check:
            raise Refused(
                f"{criterion.id} has a check: only the engine's run of it meets it",
                code="has_check",
                next=f"loopx show {criterion.check}",
            )
        draft.put(replace(criterion, state="met", reason=self.reason))
        return {"criterion": criterion.id, "state": "met"}


def add_criterion(draft: Draft, context: Context, goal: str, text: str, argv: tuple[str, ...]) -> Criterion:
    """A new criterion with the next number. Refuses the one past the limit (`too_many_criteria`)."""
    taken = draft.records(Criterion, "criterion.of_goal", goal=goal)
    fresh = [item for item in draft.created(Criterion) if item.goal == goal]
    number = max((item.number for item in [*taken, *fresh]), default=0) + 1
    if len(taken) + len(fresh) >= CRITERIA_A_GOAL:
        raise Refused(
            f"a goal has at most {CRITERIA_A_GOAL} criteria", code="too_many_criteria", next=f"loopx show {goal}"
        )
    check = make_check(draft, context, goal, argv).id if argv else None
    return draft.create(Criterion(id=draft.new_id("criterion"), goal=goal, number=number, text=text, check=check))
