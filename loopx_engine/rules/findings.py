"""Findings: what needs recovery, derived from records. Each says what happened, what is safe, what is lost, and the ways out."""

from __future__ import annotations

from collections.abc import Iterable

from loopx_engine.model.effect import Effect
from loopx_engine.model.finding import Choice, Finding
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn


def lost_turn(turn: Turn, todo: Todo | None) -> Finding | None:
    """A turn that was lost and whose todo nobody has worked on since."""
    if turn.state != "lost" or todo is None or todo.state not in ("open", "waiting"):
        return None
    return Finding(
        kind="lost turn",
        subject=turn.id,
        goal=turn.goal,
        since=turn.ended_at or turn.begun_at,
        happened=f"turn {turn.id} on '{todo.title}' ended: {turn.reason}",
        safe="its place is untouched; every receipt is kept",
        lost="what its agent had not written to a file",
        choices=(
            Choice(text="continue with what is there", command=("goal", "resume", turn.goal)),
            Choice(text="drop the todo", command=("todo", "drop", todo.id)),
            Choice(text="look at what it left", command=("diff", turn.goal)),
        ),
    )


def broken_place(place: Place, now: int) -> Finding | None:
    """A place that cannot be used, or whose checks cannot run."""
    if place.state != "broken":
        return None
    return Finding(
        kind="place broken",
        subject=place.id,
        goal=place.goal,
        since=now,
        happened=place.reason.splitlines()[0] if place.reason else "the place cannot be used",
        safe="nothing in it was changed",
        choices=(Choice(text="mended, try again", command=("place", "retry", place.id)),),
    )


def uncertain_effect(effect: Effect) -> Finding | None:
    """An act outside whose outcome nobody saw."""
    if effect.state != "uncertain":
        return None
    return Finding(
        kind="uncertain effect",
        subject=effect.id,
        goal=effect.goal,
        since=effect.attempted_at or effect.created_at,
        happened=f"the {effect.action} was tried and its end was not seen: {effect.detail}",
        safe="it is not tried again by itself",
        choices=(Choice(text="look at what is known", command=("show", effect.id)),),
    )


def sleeping_goal(goal: Goal, has_wake: bool, now: int) -> Finding | None:
    """An active goal that nothing will wake."""
    if goal.phase != "active" or has_wake:
        return None
    return Finding(
        kind="nothing will wake it",
        subject=goal.id,
        goal=goal.id,
        since=now,
        happened=f"'{goal.title}' is active and no engine has looked at it",
        safe="all of it",
        choices=(Choice(text="start the engine: loopx-engine run"),),
    )


def in_order(findings: Iterable[Finding | None]) -> tuple[Finding, ...]:
    """What was found, oldest first."""
    return tuple(sorted((item for item in findings if item is not None), key=lambda item: (item.since, item.subject)))
