"""The frontier of a goal as a digest: what must change for a turn to count as progress (MODEL.md 5)."""

from __future__ import annotations

from loopx_engine.commands.draft import Draft
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.goal import Goal
from loopx_engine.rules.progress import frontier

TODO_STATES = ("open", "waiting", "proving", "done", "dropped")
DECISION_STATES = ("open", "answered", "carried out", "void", "expired", "withdrawn")


def frontier_of(draft: Draft, goal: Goal, tree: str) -> str:
    """Todo and decision states by count, criteria, accepted evidence and the tree of the place; prose is not in it."""
    return frontier(
        goal=goal.revision,
        todos={state: draft.counter(goal.id, f"todo.{state}") for state in TODO_STATES},
        criteria=tuple(
            (item.number, item.state) for item in draft.records(Criterion, "criterion.of_goal", goal=goal.id)
        ),
        evidence=draft.counter(goal.id, "evidence.pass"),
        decisions={state: draft.counter(goal.id, f"decision.{state}") for state in DECISION_STATES},
        tree=tree,
    )
