"""What makes a plan impossible or incomplete, in its order, and what only a person can mend."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from strategies import criterion, snapshots, todo, watch, world

from loopx_engine.rules.plan import for_a_person, plan_must_change
from loopx_engine.rules.snapshot import Snapshot

EMPTY = {"todos": (), "unfinished": 0}
FAILED = criterion(check="k-1", reason="fail")
REASONS = {
    "stalled", "watch_flat", "no_successor", "criterion_gap", "need_dropped", "condition_dead", "decision_refused",
}  # fmt: skip


def reason(snapshot: Snapshot) -> str | None:
    found = plan_must_change(snapshot)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("snapshot", "expected"),
    [
        (world(), None),
        (world(todos=(todo(stalls=2),)), None),
        (world(todos=(todo(stalls=3),)), "stalled"),
        (world(todos=(todo(stalls=3, state="proving"),)), None),
        (world(watches=(watch(state="flat"),)), "watch_flat"),
        (world(watches=(watch(),)), None),
        (world(todos=(todo(needs=("t-8",)),), needs={"t-8": "dropped"}), "need_dropped"),
        (world(todos=(todo(needs=("t-8",)),), needs={"t-8": "missing"}), "need_dropped"),
        (world(todos=(todo(needs=("t-8",)),), needs={"t-8": "open"}), None),
        (world(dead_conditions=("t-1",)), "condition_dead"),
        (world(refused=("t-1",)), "decision_refused"),
        (world(refused=("t-1",), unfinished=2), None),
        (world(criteria=(criterion(),)), "criterion_gap"),
        (world(criteria=(criterion(),), serving={1: 1}), None),
        (world(criteria=(criterion(state="met"), criterion(2, state="waived"))), None),
        (world(criteria=(criterion(state="stale", check="k-1", reason="fail"),)), "criterion_gap"),
        (world(criteria=(criterion(check="k-1"),), **EMPTY), None),
        (world(criteria=(criterion(check="k-1"),)), "criterion_gap"),
        (world(criteria=(criterion(check="k-1"),), done=1), None),
        (world(successors=("t-1",), **EMPTY), "no_successor"),
        (world(successors=("t-1",)), None),
        (world(successors=("t-1",), criteria=(criterion(state="met"),), **EMPTY), None),
        (world(**EMPTY), None),
    ],
)  # fmt: skip
def test_each_reason_by_itself(snapshot: Snapshot, expected: str | None) -> None:
    assert reason(snapshot) == expected


def test_todos_come_before_answers_before_criteria() -> None:
    everything = world(todos=(todo(stalls=3),), dead_conditions=("t-1",), criteria=(FAILED,))
    assert reason(everything) == "stalled"
    assert reason(world(dead_conditions=("t-1",), criteria=(FAILED,))) == "condition_dead"


def test_a_gap_that_a_plan_can_close_comes_before_one_of_a_person() -> None:
    both = world(criteria=(criterion(1), criterion(2, check="k-1", reason="fail")), done=1, **EMPTY)
    found = plan_must_change(both)
    assert found is not None
    assert "criterion 2" in found[1]
    assert not for_a_person(both, found)


def test_a_person_meets_what_has_no_check_once_work_was_done() -> None:
    met_by_person = world(criteria=(criterion(),), done=1, **EMPTY)
    found = plan_must_change(met_by_person)
    assert found is not None
    assert found[1].startswith("only a person meets criterion 1 (loopx criterion meet c-1)")
    assert for_a_person(met_by_person, found)
    nothing_done = world(criteria=(criterion(),), **EMPTY)
    assert not for_a_person(nothing_done, found)
    assert not for_a_person(met_by_person, ("stalled", "", None))
    assert not for_a_person(world(), ("criterion_gap", "", None))


@given(snapshots())
@settings(max_examples=200, deadline=None)
def test_a_reason_is_one_of_the_table_and_names_a_todo_of_the_goal_or_none(snapshot: Snapshot) -> None:
    found = plan_must_change(snapshot)
    if found is not None:
        assert found[0] in REASONS
        assert found[1]
