"""A day in a house as the workspace reads it, and the same with some of its texts replaced.

Everything comes from the engine's own reads over a real ledger, so that a field that is renamed there is missed here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_kit import OWNER, Kit

from loopx_engine.model.decision import Decision
from loopx_engine.reading import read_as

PUSH = {"action": "push", "remote": "origin", "ref": "main", "sha": "a" * 40, "remote_has": "", "protected": ["main"]}
WORDS_OF_THE_ENGINE = frozenset(
    {"id", "kind", "state", "risk", "word", "voice", "mark", "phase", "sandbox", "answer", "subject", "purpose"}
)


@dataclass(frozen=True)
class World:
    """What was read, at `now`."""

    now: int
    inbox: dict[str, Any]
    goals: dict[str, Any]
    status: dict[str, Any]
    cards: tuple[dict[str, Any], ...]
    todos: tuple[dict[str, Any], ...]
    decisions: tuple[dict[str, Any], ...]

    @property
    def items(self) -> list[dict[str, Any]]:
        return list(self.inbox["items"])


def recorded(folder: Path) -> World:
    """The world of a kit in which everything is there once: each kind of question, todo, criterion, goal and finding."""
    kit = Kit(folder)
    try:
        kit.sign("owner init", public_key=kit.public)
        _lived(kit)
        names = [item["id"] for item in _read(kit, "goals")["items"]]
        decisions = sorted(item.id for item in kit.all(Decision))
        return World(
            now=kit.clock.now(),
            inbox=_read(kit, "inbox", here="/project"),
            goals=_read(kit, "goals", here="/project"),
            status=_read(kit, "status", here="/project"),
            cards=tuple(_read(kit, "card", goal=name) for name in names),
            todos=tuple(_read(kit, "todos", goal=name) for name in names),
            decisions=tuple(_read(kit, "decision", id=name) for name in decisions),
        )
    finally:
        kit.engine.ledger.close()


def _read(kit: Kit, name: str, **given: Any) -> dict[str, Any]:
    return read_as(kit.engine, OWNER, name, given)


def _lived(kit: Kit) -> None:
    ada = kit.agent("ada", capability=["plan"])
    goal = kit.goal(
        "checkout totals",
        objective="The total of a cart is right.\nAlso with a voucher.",
        criterion=[["totals are right", ["pytest", "-q"]], ["the shop reads well", []], ["it is fast", ["bench"]]],
        agent=["ada"],
    )
    todos = [kit.todo(goal, title) for title in ("quantity", "no cached lines", "release", "not wanted", "later")]
    kit.todo(goal, "with a check", check=["true"])
    kit.act("criterion prove", criterion="c-1", outcome="pass", tree="a" * 40)
    kit.sign("criterion waive", criterion="c-2", reason="nobody reads it")
    kit.say("todo drop", todo=todos[3])
    kit.done(ada, "t-6", outcome="pass", check="k-3", sandbox="none")
    _asked(kit, goal, todos)
    kit.clock.advance(90_000)
    who = kit.begin(ada, todo=todos[0])
    kit.act("turn start", turn=who.turn, pid=7, started="x", sandbox="none", transcript="/t/u")
    kit.act("turn usage", turn=who.turn, input=411_000, output=1_000, cost=2_100_000)
    kit.turn(who, "decision ask", goal=goal, question="May I?", effect={**PUSH, "ref": "loopx/g-1"}, blocks=[todos[0]])
    _others(kit)
    kit.clock.advance(30_000)


def _asked(kit: Kit, goal: str, todos: list[str]) -> None:
    """A question of each kind: plain, with answers, high, proposed, answered, refused with a reason, put off."""

    def ask(question: str, **given: Any) -> str:
        return str(kit.say("decision ask", goal=goal, question=question, **given)["decision"])

    ask("Keep the old URL alive?", why="old links\nfrom letters", blocks=[todos[1]])
    ask("Which name?", option=["carts", "baskets, as the shop says"], blocks=[todos[1], todos[2]])
    ask("Push to main?", effect=PUSH, blocks=[todos[2]])
    commands = [{"verb": "goal edit", "arguments": {"goal": goal, "budget": "turns=200"}}]
    kit.act("decision propose", goal=goal, question="More turns?", commands=commands)
    for option, reason in (("yes", ""), ("no", "not today")):
        name = ask(f"Answered {option}?")
        kit.sign("decision answer", decision=name, option=option, basis=kit.get(Decision, name).basis, reason=reason)
    kit.say("decision snooze", decision=ask("Put off?"), hours=1)


def _others(kit: Kit) -> None:
    """Goals in every other phase, one with a lost turn and one whose place is broken."""
    kit.draft("docs site")
    closed = kit.goal("done long ago")
    kit.sign("goal close", goal=closed)
    paused = kit.goal("queue migration")
    kit.say("goal pause", goal=paused)
    bob = kit.agent("bob")
    lost = kit.goal("search relevance", agent=["bob"])
    kit.todo(lost, "rank by recency")
    kit.act("turn lose", turn=kit.begin(bob, goal=lost).turn, reason="its process is gone")
    broken = kit.goal("mobile layout")
    kit.act("place settle", place=_place_of(kit, broken), state="broken", reason="no disk")


def _place_of(kit: Kit, goal: str) -> str:
    from loopx_engine.model.place import Place

    return next(place.id for place in kit.all(Place) if place.goal == goal)


def with_text(data: dict[str, Any], text: str) -> dict[str, Any]:
    """The same with this text in every field that a person, an agent or a program may have written."""
    made: dict[str, Any] = _replaced(copy.deepcopy(data), "", text)
    return made


def _replaced(value: Any, name: str, text: str) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(inner, key, text) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, name, text) for inner in value]
    return text if isinstance(value, str) and value and name not in WORDS_OF_THE_ENGINE else value


def fields_in(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every field of a record, however deep."""
    if isinstance(data, dict):
        for name, value in data.items():
            yield (*at, name)
            yield from fields_in(value, (*at, name))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from fields_in(value, (*at, number))


def changed(data: dict[str, Any], path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> dict[str, Any]:
    """A copy in which `change(holder, name)` was done to the field at the path."""
    made = copy.deepcopy(data)
    holder: Any = made
    for name in path[:-1]:
        holder = holder[name]
    change(holder, path[-1])
    return made
