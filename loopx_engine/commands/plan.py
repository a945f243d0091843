"""The plan of a goal: the digest a person signs, which makes objective, criteria and todos the owner's own words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.canonical import digest
from loopx_engine.commands.draft import Draft
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.goal import Goal
from loopx_engine.model.todo import Todo


def plan_digest(draft: Draft, goal: Goal) -> str:
    """sha256 of what the goal wants, may do and may spend, with every unfinished todo and every check."""
    todos = draft.records(Todo, "todo.all_unfinished", goal=goal.id)
    criteria = draft.records(Criterion, "criterion.of_goal", goal=goal.id)
    return digest(
        {
            "title": goal.title,
            "objective": goal.objective,
            "autonomy": goal.autonomy,
            "network": goal.network,
            "agents": list(goal.agents),
            "reviewers": list(goal.reviewers),
            "budgets": [goal.budget_turns, goal.budget_days, goal.budget_tokens, goal.budget_cost],
            "check": _argv(draft, goal.check),
            "criteria": [[item.number, item.text, item.state, _argv(draft, item.check)] for item in criteria],
            "todos": [
                [item.id, item.title, item.body, list(item.needs), list(item.scopes), _argv(draft, item.check)]
                for item in todos
            ],
        }
    )


def sign_plan(draft: Draft, goal: Goal) -> int:
    """Marks every unfinished todo as the signer's and keeps the digest on the goal. Returns how many were accepted."""
    accepted = 0
    for todo in draft.records(Todo, "todo.all_unfinished", goal=goal.id):
        if not todo.signed:
            draft.put(replace(todo, signed=True))
            accepted += 1
    draft.put(replace(goal, plan=plan_digest(draft, goal)))
    return accepted


def _argv(draft: Draft, check: str | None) -> list[Any]:
    found = draft.get(Check, check) if check else None
    return list(found.argv) if found else []
