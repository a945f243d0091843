"""Goal: adding and editing one, and the acts that start, pause and end it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.actor import agents_named
from loopx_engine.commands.budget import parse_budget
from loopx_engine.commands.check import make_check
from loopx_engine.commands.context import Context
from loopx_engine.commands.criterion import add_criterion
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, hidden, option
from loopx_engine.commands.permission import need_grant
from loopx_engine.commands.plan import plan_digest, sign_plan
from loopx_engine.errors import Refused, UsageError
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import PRESETS, Goal
from loopx_engine.model.limits import (
    ARGV_BYTES,
    BODY_BYTES,
    CRITERIA_A_GOAL,
    CRITERION_CHARACTERS,
    OBJECTIVE_BYTES,
    TITLE_CHARACTERS,
)
from loopx_engine.model.project import Project
from loopx_engine.model.turn import Turn


@command
class GoalAdd:
    """A goal by hand, as a draft: `goal resume` makes it active."""

    title: str = argument("what is wanted", most=TITLE_CHARACTERS)
    project: str = hidden("the project it works in", id="project")
    objective: str = option("what it is about, in more words", most=OBJECTIVE_BYTES, unit="bytes")
    criterion: tuple[tuple[str, tuple[str, ...]], ...] = option(
        "a condition, with the argv that proves it after ' :: '", default=(), items=CRITERIA_A_GOAL, most=ARGV_BYTES
    )
    check: tuple[str, ...] = option("the default check of its todos", default=(), most=ARGV_BYTES)
    agent: tuple[str, ...] = option("an agent that may work on it, best first", default=())
    reviewer: tuple[str, ...] = option("an agent that may review", default=())
    autonomy: str = option("what its turns may do unasked", default="normal", choices=PRESETS)
    place: str = option("where its turns run", default="worktree", choices=("worktree", "clone", "in-place"))
    budget: str = option("turns=N,days=N,tokens=N,cost=N")
    priority: int = option("0 (first) to 4", default=2)

    def needs_signature(self) -> bool:
        bound = any(argv for _, argv in self.criterion)
        return bool(bound or self.check or self.agent or self.reviewer or self.budget or self.autonomy != "normal")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        project = draft.need(Project, self.project)
        goal_id = draft.new_id("goal")
        if not 0 <= self.priority <= 4:
            raise UsageError("priority goes from 0 to 4", code="bad_argument", next="loopx goal add --help")
        kind = self.place if project.identity else ("in-place" if self.place == "in-place" else "directory")
        goal = Goal(
            id=goal_id,
            title=self.title,
            objective=self.objective,
            project=project.id,
            place_kind=kind,  # type: ignore[arg-type]
            autonomy=self.autonomy,  # type: ignore[arg-type]
            priority=self.priority,
            agents=agents_named(draft, self.agent),
            reviewers=agents_named(draft, self.reviewer),
            created_by=context.who.actor,
            created_at=context.now,
            **(parse_budget(self.budget) if self.budget else {}),
        )
        draft.create(goal)
        for text, argv in self.criterion:
            if not text.strip() or len(text) > CRITERION_CHARACTERS:
                raise UsageError(f"a criterion has 1 to {CRITERION_CHARACTERS} characters", code="too_long")
            add_criterion(draft, context, goal_id, text, argv)
        if self.check:
            draft.put(replace(goal, check=make_check(draft, context, goal_id, self.check).id))
        return {"goal": goal_id, "title": self.title, "project": project.root}


@command
class GoalEdit:
    """Changes only what is named. Agents, reviewers, autonomy and budgets need the owner's signature."""

    goal: str = argument("the goal", id="goal")
    title: str | None = option("what is wanted", default=None, most=TITLE_CHARACTERS)
    objective: str | None = option("what it is about", default=None, most=OBJECTIVE_BYTES, unit="bytes")
    priority: int | None = option("0 (first) to 4", default=None)
    agent: tuple[str, ...] | None = option("the agents that may work on it, best first", default=None)
    reviewer: tuple[str, ...] | None = option("the agents that may review", default=None)
    autonomy: str | None = option("what its turns may do unasked", default=None, choices=PRESETS)
    budget: str | None = option("turns=N,days=N,tokens=N,cost=N", default=None)
    network: bool | None = option("whether its turns reach the network", default=None)

    def needs_signature(self) -> bool:
        return any(value is not None for value in (self.agent, self.reviewer, self.autonomy, self.budget, self.network))

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        if goal.phase == "archived":
            raise Refused(f"{goal.id} is archived", code="goal_ended", next=f"loopx show {goal.id}")
        if self.title is not None and not self.title.strip():
            raise UsageError("the title is empty", code="empty", next="loopx goal edit --help")
        if self.priority is not None and not 0 <= self.priority <= 4:
            raise UsageError("priority goes from 0 to 4", code="bad_argument", next="loopx goal edit --help")
        named = {
            "title": self.title,
            "objective": self.objective,
            "priority": self.priority,
            "autonomy": self.autonomy,
            "network": self.network,
            "agents": None if self.agent is None else agents_named(draft, self.agent),
            "reviewers": None if self.reviewer is None else agents_named(draft, self.reviewer),
        }
        changes: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
        if self.budget is not None:
            changes |= parse_budget(self.budget)
        wanted = self.title is not None or self.objective is not None
        goal = draft.put(replace(goal, **changes, revision=goal.revision + 1))
        if wanted and goal.plan and not context.who.verified:
            draft.put(replace(goal, plan=""))
        elif wanted and goal.plan:
            draft.put(replace(goal, plan=plan_digest(draft, goal)))
        return {"goal": goal.id, "revision": goal.revision}


@command
class GoalPause:
    """Starts nothing new for the goal; a running turn ends by itself."""

    goal: str = argument("the goal", id="goal")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        pause(draft, goal)
        return {"goal": goal.id, "phase": "paused"}


@command
class GoalResume:
    """Makes a draft or paused goal active. Signing it accepts objective, criteria and todos as the owner's own."""

    goal: str = argument("the goal", id="goal")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        _not_ended(goal)
        signed = sign_plan(draft, goal)
        goal = draft.put(
            replace(
                draft.need(Goal, goal.id), phase="active", active_since=goal.active_since or context.now, stopped=False
            )
        )
        return {"goal": goal.id, "phase": "active", "plan": goal.plan, "accepted_todos": signed}


@command
class GoalClose:
    """Ends a goal: every criterion met or waived, nothing open, nothing running."""

    goal: str = argument("the goal", id="goal")
    note: str = option("a closing word", most=BODY_BYTES, unit="bytes")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        _not_ended(goal)
        if context.who.kind == "engine":
            need_grant(draft, context, goal, "close", goal.id)
        criteria = draft.records(Criterion, "criterion.of_goal", goal=goal.id)
        unmet = [item for item in criteria if item.state not in ("met", "waived")]
        if unmet:
            raise Refused(
                f"criterion {unmet[0].number} is {unmet[0].state}: {unmet[0].text}",
                code="criterion_open",
                next=f"loopx show {goal.id}",
            )
        unfinished = [state for state in ("open", "waiting", "proving") if draft.counter(goal.id, f"todo.{state}")]
        if unfinished:
            raise Refused(
                f"{goal.id} has {unfinished[0]} todos", code="todo_open", next=f"loopx list todo --goal {goal.id}"
            )
        running = draft.records(Turn, "turn.live", goal=goal.id)
        if running:
            raise Refused(f"{running[0].id} is running", code="turn_open", next=f"loopx stop {goal.id}")
        draft.put(replace(goal, phase="done", ended_at=context.now, note=self.note, generation=goal.generation + 1))
        withdraw_open(draft, goal, "the goal was closed")
        return {"goal": goal.id, "phase": "done", "criteria": [f"{c.number} {c.state}" for c in criteria]}


@command
class GoalReopen:
    """Takes a finished goal up again."""

    goal: str = argument("the goal", id="goal")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        if goal.phase != "done":
            raise Refused(
                f"{goal.id} is {goal.phase}, not done", code="not_finished", next=f"loopx goal resume {goal.id}"
            )
        draft.put(replace(goal, phase="active", ended_at=None, revision=goal.revision + 1))
        return {"goal": goal.id, "phase": "active"}


@command
class GoalArchive:
    """Puts a goal away. An active one is paused first."""

    goal: str = argument("the goal", id="goal")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        if goal.phase == "archived":
            raise Refused(f"{goal.id} is archived", code="goal_ended", next=f"loopx show {goal.id}")
        if goal.phase == "active":
            raise Refused(f"{goal.id} is active", code="goal_active", next=f"loopx goal pause {goal.id}")
        draft.put(replace(goal, phase="archived", ended_at=context.now))
        withdraw_open(draft, goal, "the goal was archived")
        return {"goal": goal.id, "phase": "archived"}


def _not_ended(goal: Goal) -> None:
    if goal.phase in ("done", "archived"):
        raise Refused(f"{goal.id} is {goal.phase}", code="goal_ended", next=f"loopx goal reopen {goal.id}")


def withdraw_open(draft: Draft, goal: Goal, why: str) -> None:
    """Takes back what is still asked about a goal that ends."""
    for decision in draft.records(Decision, "decision.open", goal=goal.id):
        if decision.state == "open":
            draft.put(replace(decision, state="withdrawn", outcome=why))


def pause(draft: Draft, goal: Goal, *, stopped: bool = False) -> Goal:
    """The goal paused, its generation raised so that everything queued for it dies."""
    if goal.phase != "active":
        raise Refused(f"{goal.id} is {goal.phase}, not active", code="not_active", next=f"loopx show {goal.id}")
    return draft.put(replace(goal, phase="paused", generation=goal.generation + 1, stopped=stopped))
