"""The state machines as a graph: no dead end, no state that needs an absent actor."""

from __future__ import annotations

import pytest

from loopx_engine.errors import Refused
from loopx_engine.model.states import MACHINES, Machine, check_move

RESTING = {"goal": {"done", "paused"}, "todo": {"done", "dropped"}, "criterion": {"met", "waived"}, "lease": {"free"},
           "limit": {"ended"}, "grant": {"live"}, "actor": {"active"}, "check": {"set"}, "place": {"ready"}}  # fmt: skip
INITIAL = {"goal": {"draft"}, "todo": {"open", "waiting"}, "lease": {"held"}, "turn": {"open"}, "effect": {"intent"},
           "message": {"stored"}, "evidence": {"fresh"}, "handoff": {"offered"}, "watch": {"watching"}, "place": {"new"},
           "actor": {"active"}, "check": {"set"}, "limit": {"waiting"}, "decision": {"open"}, "grant": {"live"},
           "criterion": {"open"}}  # fmt: skip
KINDS = sorted(MACHINES)


def reachable(machine: Machine, start: set[str]) -> set[str]:
    found, ahead = set(start), list(start)
    while ahead:
        for state in machine[ahead.pop()].to:
            if state not in found:
                found.add(state)
                ahead.append(state)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_state_that_is_not_terminal_has_a_next_actor_and_a_wake(kind: str) -> None:
    for name, state in MACHINES[kind][1].items():
        if state.to:
            assert state.actor in ("person", "agent", "engine"), f"{kind} {name} has no next actor"
            assert state.wake.strip(), f"{kind} {name} has no wake"


@pytest.mark.parametrize("kind", KINDS)
def test_every_move_leads_to_a_state_and_every_state_is_reached(kind: str) -> None:
    machine = MACHINES[kind][1]
    for state in machine.values():
        assert set(state.to) <= set(machine)
    assert reachable(machine, INITIAL[kind]) == set(machine)


@pytest.mark.parametrize("kind", KINDS)
def test_no_state_is_a_dead_end(kind: str) -> None:
    machine = MACHINES[kind][1]
    rest = RESTING.get(kind, set()) | {name for name, state in machine.items() if not state.to}
    for name in machine:
        assert reachable(machine, {name}) & rest, f"{kind} {name} never comes to rest"


def test_a_move_that_is_not_listed_is_refused_and_names_what_is() -> None:
    check_move("todo", "t-1", "open", "done")
    check_move("todo", "t-1", "done", "done")
    with pytest.raises(Refused, match="goes to open"):
        check_move("todo", "t-1", "done", "proving")
    with pytest.raises(Refused, match="goes to nothing"):
        check_move("effect", "x-1", "done", "intent")
    with pytest.raises(Refused, match="no state of a turn"):
        check_move("turn", "u-1", "open", "asleep")
