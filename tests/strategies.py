"""Builders and Hypothesis strategies of snapshots: small worlds in which every row of the verdict can be met."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.handoff import Handoff
from loopx_engine.model.lease import Lease
from loopx_engine.model.limit import Limit
from loopx_engine.model.message import Message
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.model.watch import Watch
from loopx_engine.rules.snapshot import Snapshot

NOW = 1_800_000_000_000
DAY = 86_400_000


def goal(**over: Any) -> Goal:
    given: dict[str, Any] = {"id": "g-1", "title": "goal", "project": "p-1", "phase": "active", "created_by": "a-1"}
    return Goal(**{**given, "created_at": NOW - DAY, "active_since": NOW - DAY, **over})


def agent(identifier: str = "a-3", **over: Any) -> Actor:
    return Actor(**{"id": identifier, "kind": "agent", "name": identifier, "created_at": NOW - DAY, **over})


def todo(identifier: str = "t-1", **over: Any) -> Todo:
    given = {"id": identifier, "goal": "g-1", "title": f"todo {identifier}", "rank": int(identifier[2:]) * 10}
    return Todo(**{**given, "added_by": "a-1", "created_at": NOW - DAY, **over})


def criterion(number: int = 1, **over: Any) -> Criterion:
    return Criterion(**{"id": f"c-{number}", "goal": "g-1", "number": number, "text": f"criterion {number}", **over})


def turn(identifier: str = "u-1", **over: Any) -> Turn:
    given = {"id": identifier, "goal": "g-1", "actor": "a-3", "todo": "t-1", "basis": 1, "generation": 1, "epoch": 1}
    given |= {"tag": identifier, "token_hash": "", "begun_at": NOW - 1000, "deadline": NOW + 1000}
    return Turn(**{**given, **over})


def lease(identifier: str = "t-1", **over: Any) -> Lease:
    given = {"id": identifier, "goal": "g-1", "actor": "a-3", "turn": "u-1", "epoch": 1, "expires": NOW + 1000}
    return Lease(**{**given, "taken_at": NOW - 1000, **over})


def decision(identifier: str = "d-1", **over: Any) -> Decision:
    given: dict[str, Any] = {"id": identifier, "goal": "g-1", "kind": "choice", "question": f"question {identifier}"}
    given |= {"basis": "b", "risk": "low", "asked_by": "a-3", "created_at": NOW - 1000, "expires": NOW + DAY}
    return Decision(**{**given, **over})


def evidence_row(identifier: str = "e-1", **over: Any) -> Evidence:
    given: dict[str, Any] = {
        "id": identifier,
        "goal": "g-1",
        "kind": "check",
        "outcome": "pass",
        "made_by": "a-3",
        "at": NOW,
    }
    return Evidence(**{**given, **over})


def place(identifier: str = "pl-1", **over: Any) -> Place:
    given: dict[str, Any] = {"id": identifier, "goal": "g-1", "project": "p-1", "kind": "worktree", "path": "/x"}
    return Place(**{**given, "branch": "loopx/g-1", "state": "ready", "created_at": NOW - DAY, **over})


def check(identifier: str = "k-1", **over: Any) -> Check:
    given: dict[str, Any] = {"id": identifier, "goal": "g-1", "argv": ("make", "test"), "set_by": "a-1"}
    return Check(**{**given, "set_at": NOW - DAY, **over})


def grant(identifier: str = "gr-1", **over: Any) -> Grant:
    given: dict[str, Any] = {"id": identifier, "kind": "push", "pattern": "origin/preview/*", "expires": NOW + DAY}
    return Grant(**{**given, "uses": 3, "created_by": "a-1", "created_at": NOW - 1, **over})


def limit(identifier: str = "a-3", **over: Any) -> Limit:
    return Limit(**{"id": identifier, "until": NOW + 5000, "source": "the runtime", **over})


def correction(**over: Any) -> Message:
    given: dict[str, Any] = {"id": "m-1", "goal": "g-1", "origin": "person", "author": "a-1", "text": "do it so"}
    return Message(**{**given, "correction": True, "created_at": NOW, **over})


def handoff(**over: Any) -> Handoff:
    given = {"id": "h-1", "goal": "g-1", "todo": "t-1", "giver": "a-4", "note": "half done", "created_at": NOW - 1}
    return Handoff(**{**given, "expires": NOW + DAY, **over})


def watch(**over: Any) -> Watch:
    given = {
        "id": "w-1",
        "goal": "g-1",
        "todo": "t-9",
        "actor": "a-3",
        "every": 1000,
        "due": NOW - 1,
        "expires": NOW + DAY,
    }
    return Watch(**{**given, **over})


def world(**over: Any) -> Snapshot:
    """A snapshot in which nothing is in the way: one agent, one open todo, one ready place."""
    given: dict[str, Any] = {
        "goal": goal(),
        "actor": agent(),
        "todos": (todo(),),
        "places": (place(),),
        "unfinished": 1,
    }
    return Snapshot(**{**given, **over})


AGENTS = ("a-3", "a-4")
TODOS = tuple(f"t-{n}" for n in range(1, 6))


@st.composite
def todos_(draw: Any, identifier: str) -> Todo:
    return todo(
        identifier,
        state=draw(st.sampled_from(["open", "open", "open", "waiting", "proving"])),
        kind=draw(st.sampled_from(["work", "work", "work", "watch"])),
        rank=draw(st.integers(0, 5)),
        needs=tuple(draw(st.lists(st.sampled_from(TODOS), max_size=2, unique=True))),
        wait=draw(st.sampled_from([None, f"at:{NOW - 1}", f"at:{NOW + 9}", "done:t-1", "decided:d-1"])),
        capabilities=tuple(draw(st.lists(st.sampled_from(["browser", "gpu"]), max_size=1))),
        excluded=tuple(draw(st.lists(st.sampled_from(AGENTS), max_size=1))),
        stalls=draw(st.integers(0, 4)),
        review=draw(st.sampled_from(["", "", "due", "pass", "fail"])),
        claimed_by=draw(st.sampled_from(["", *AGENTS])),
        check=draw(st.sampled_from([None, None, "k-1"])),
        title=draw(st.text(max_size=200)),
    )


@st.composite
def decisions_(draw: Any, identifier: str) -> Decision:
    state = draw(st.sampled_from(["open", "open", "answered", "carried out", "expired", "withdrawn"]))
    return decision(
        identifier,
        state=state,
        kind=draw(st.sampled_from(["choice", "effect", "proposal"])),
        question=draw(st.text(max_size=400)),
        blocks=tuple(draw(st.lists(st.sampled_from(TODOS), max_size=2, unique=True))),
        cause=draw(st.sampled_from(["", "budget_spent:x", "ready_to_close:y", "stalled:z"])),
        answer="" if state in ("open", "expired", "withdrawn") else draw(st.sampled_from(["yes", "no"])),
        outcome=draw(st.sampled_from(["", "refused"])),
        expires=draw(st.sampled_from([NOW - 1, NOW + DAY])),
    )


@st.composite
def snapshots(draw: Any) -> Snapshot:
    """Any snapshot the loader could hand in, and some it could not."""
    todos = tuple(draw(todos_(name)) for name in draw(st.lists(st.sampled_from(TODOS), unique=True, max_size=5)))
    agents = tuple(
        agent(name, capabilities=tuple(draw(st.lists(st.sampled_from(["plan", "browser"]), unique=True))))
        for name in draw(st.lists(st.sampled_from(AGENTS), unique=True))
    )
    running = draw(st.lists(st.sampled_from(TODOS), max_size=2, unique=True))
    return Snapshot(
        damaged=draw(st.sampled_from(["", "", "", "", "a page is torn"])),
        goal=draw(
            st.none()
            | st.builds(
                goal,
                phase=st.sampled_from(["draft", "active", "active", "active", "paused", "done", "archived"]),
                reviewers=st.sampled_from([(), ("a-3",)]),
                budget_turns=st.integers(1, 5),
                budget_tokens=st.none() | st.integers(1, 5),
            )
        ),
        actor=draw(
            st.none()
            | st.builds(
                agent,
                state=st.sampled_from(["active", "active", "retired"]),
                capabilities=st.sampled_from([(), ("plan",)]),
            )
        ),
        agents=agents,
        criteria=tuple(
            criterion(
                n,
                state=draw(st.sampled_from(["open", "met", "waived", "stale"])),
                check=draw(st.sampled_from([None, "k-1"])),
                reason=draw(st.sampled_from(["", "fail"])),
            )
            for n in range(1, draw(st.integers(1, 4)))
        ),
        todos=todos,
        needs={
            need: draw(st.sampled_from(["done", "open", "dropped", "missing"])) for item in todos for need in item.needs
        },
        serving=draw(st.dictionaries(st.integers(1, 3), st.integers(0, 2), max_size=3)),
        leases=tuple(
            lease(name, actor=draw(st.sampled_from(AGENTS)), expires=draw(st.sampled_from([NOW - 1, NOW + 9])))
            for name in draw(st.lists(st.sampled_from((*TODOS, "g-1")), max_size=2, unique=True))
        ),
        turns=tuple(
            turn(
                f"u-{n}",
                todo=name,
                actor=draw(st.sampled_from(AGENTS)),
                place=draw(st.sampled_from([None, "pl-1"])),
                state=draw(st.sampled_from(["open", "finishing"])),
                purpose=draw(st.sampled_from(["work", "work", "replan", "review"])),
            )
            for n, name in enumerate(running, 1)
        ),
        places=tuple(
            place(
                f"pl-{n}",
                state=draw(st.sampled_from(["new", "ready", "ready", "broken"])),
                holds=draw(st.sampled_from([None, None, *TODOS])),
            )
            for n in range(1, draw(st.integers(1, 3)))
        ),
        busy_places=tuple(draw(st.lists(st.just("pl-1"), max_size=1))),
        decisions=tuple(draw(decisions_(f"d-{n}")) for n in range(1, draw(st.integers(1, 5)))),
        refused=tuple(draw(st.lists(st.sampled_from(TODOS), max_size=1))),
        limits=tuple(
            limit(name, until=draw(st.sampled_from([NOW - 1, NOW + 9])))
            for name in draw(st.lists(st.sampled_from(AGENTS), max_size=1))
        ),
        corrections=tuple(draw(st.lists(st.just(correction()), max_size=1))),
        handoffs=tuple(draw(st.lists(st.builds(handoff, to=st.sampled_from(["", "a-3"])), max_size=1))),
        watches=tuple(
            draw(
                st.lists(
                    st.builds(
                        watch, state=st.sampled_from(["watching", "flat"]), due=st.sampled_from([NOW - 1, NOW + 9])
                    ),
                    max_size=1,
                )
            )
        ),
        checks={"k-1": check(baseline=draw(st.sampled_from(["unknown", "red", "green", "cannot run"])))},
        dead_conditions=tuple(draw(st.lists(st.sampled_from(TODOS), max_size=1))),
        successors=tuple(draw(st.lists(st.sampled_from(TODOS), max_size=1))),
        unfinished=len(todos),
        done=draw(st.integers(0, 2)),
        plans_in_vain=draw(st.integers(0, 4)),
        spent_turns=draw(st.integers(0, 6)),
        spent_tokens=draw(st.none() | st.integers(0, 6)),
    )
