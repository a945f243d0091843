"""`findings`: what needs recovery, derived now: lost turns, broken places, acts nobody saw the end of, goals nothing wakes.

A record that cannot be read is a finding of its own, not the end of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.effect import Effect
from loopx_engine.model.finding import Choice, Finding
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.record import values
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.reading.named import Named
from loopx_engine.reading.sound import needed, tried
from loopx_engine.reading.view import View
from loopx_engine.rules.findings import broken_place, in_order, lost_turn, sleeping_goal, uncertain_effect

MOST = 200
Made = tuple[str, str, Callable[[], Finding | None]]


def findings(view: View) -> dict[str, Any]:
    """What needs recovery, oldest first."""
    with view.engine.read() as reader:
        named = Named(reader)
        return {"items": [finding_row(item, named) for item in found_in(view, reader)]}


def found_in(view: View, reader: Transaction) -> tuple[Finding, ...]:
    """Every finding within this view's reach."""
    made = [item for item in _candidates(reader, view.now) if view.sees(reader, item[1])]
    return in_order(_made(item, view.now) for item in made)


def finding_row(item: Finding, named: Named) -> dict[str, Any]:
    """A finding as JSON values, with the title of its goal."""
    return {**values(item), "choices": [values(choice) for choice in item.choices], "goal_title": named.goal(item.goal)}


def _candidates(reader: Transaction, now: int) -> Iterable[Made]:
    """(id, goal, what makes the finding) of each record that is in trouble."""
    for turn, goal, todo in reader.rows("turn.lost_last", limit=MOST):
        yield turn, goal, _later(lambda t, d: lost_turn(needed(reader, Turn, t), needed(reader, Todo, d)), turn, todo)
    for place, goal in reader.rows("place.broken"):
        yield place, goal, _later(lambda p: broken_place(needed(reader, Place, p), now), place)
    for effect, goal in reader.rows("effect.uncertain"):
        yield effect, goal, _later(lambda e: uncertain_effect(needed(reader, Effect, e)), effect)
    for (goal,) in reader.rows("goal.asleep"):
        yield goal, goal, _later(lambda g: sleeping_goal(needed(reader, Goal, g), False, now), goal)


def _later(make: Callable[..., Finding | None], *ids: str) -> Callable[[], Finding | None]:
    return lambda: make(*ids)


def _made(item: Made, now: int) -> Finding | None:
    name, goal, make = item
    finding, why = tried(make)
    if not why:
        return finding
    return Finding(
        kind="damaged record",
        subject=name,
        goal=goal,
        since=now,
        happened=f"{name} cannot be shown: {why}",
        safe="its receipts are kept",
        choices=(Choice(text="check every receipt and record", command=("verify",)),),
    )
