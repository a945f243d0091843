"""The verdict table of MODEL.md 5, row by row, and its invariants as properties."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from strategies import (
    DAY,
    NOW,
    agent,
    check,
    correction,
    criterion,
    decision,
    goal,
    handoff,
    lease,
    limit,
    place,
    snapshots,
    todo,
    turn,
    watch,
    world,
)

from loopx_engine.canonical import canonical
from loopx_engine.model.limits import VERDICT_BYTES
from loopx_engine.rules.plan import plan_must_change
from loopx_engine.rules.rows import ROWS
from loopx_engine.rules.snapshot import Snapshot
from loopx_engine.rules.take import blocking, obstacle
from loopx_engine.rules.verdict import Verdict, as_json, verdict

PLANNER = agent(capabilities=("plan",))
BLOCKED = decision(blocks=("t-1",))


def judge(snapshot: Snapshot, actor: str = "a-3") -> Verdict:
    return verdict(snapshot, "g-1", actor, NOW)


ROW_CASES: list[tuple[str, Snapshot, str, str]] = [
    ("damaged ledger", world(damaged="a page is torn"), "error", "ledger_damaged"),
    ("unknown goal", world(goal=None), "error", "unknown_goal"),
    ("another goal", world(goal=goal(id="g-2")), "error", "unknown_goal"),
    ("unknown actor", world(actor=None), "error", "unknown_actor"),
    ("open turn", world(turns=(turn(),)), "resume", "turn_open"),
    ("open turn of a paused goal", world(goal=goal(phase="paused"), turns=(turn(),)), "resume", "turn_open"),
    ("draft without a plan", world(goal=goal(phase="draft"), actor=PLANNER, todos=(), unfinished=0), "plan", "draft"),
    ("draft, no planner", world(goal=goal(phase="draft"), todos=(), unfinished=0), "stop", "draft"),
    ("draft with a plan", world(goal=goal(phase="draft"), actor=PLANNER), "stop", "draft"),
    (
        "draft with a proposal",
        world(goal=goal(phase="draft"), actor=PLANNER, todos=(), unfinished=0, decisions=(decision(kind="proposal"),)),
        "stop",
        "draft",
    ),
    ("paused", world(goal=goal(phase="paused")), "stop", "paused"),
    ("done", world(goal=goal(phase="done")), "stop", "done"),
    ("archived", world(goal=goal(phase="archived")), "stop", "archived"),
    (
        "all met",
        world(todos=(), unfinished=0, criteria=(criterion(state="met"), criterion(2, state="waived"))),
        "ask",
        "ready_to_close",
    ),
    ("turns used up", world(spent_turns=100), "ask", "budget_spent"),
    ("days used up", world(goal=goal(active_since=NOW - 15 * DAY)), "ask", "budget_spent"),
    ("tokens used up", world(goal=goal(budget_tokens=5), spent_tokens=5), "ask", "budget_spent"),
    ("limited", world(limits=(limit(),)), "wait", "limit_until"),
    ("corrected", world(corrections=(correction(),)), "answer", "correction"),
    ("offered", world(handoffs=(handoff(to="a-3"),)), "answer", "handoff_offered"),
    ("watch due", world(watches=(watch(),)), "watch", "watch_due"),
    (
        "review due",
        world(goal=goal(reviewers=("a-3",)), todos=(todo(state="proving", review="due", claimed_by="a-4"),)),
        "review",
        "review_due",
    ),
    ("own lease", world(todos=(todo("t-1"), todo("t-2")), leases=(lease("t-2"),)), "work", "own_lease"),
    ("next open", world(), "work", "next_open"),
    ("stalled, planner", world(actor=PLANNER, todos=(todo(stalls=3),)), "replan", "stalled"),
    ("stalled, nobody plans", world(todos=(todo(stalls=3),)), "ask", "stalled"),
    (
        "watch flat",
        world(actor=PLANNER, todos=(todo(kind="watch"),), watches=(watch(state="flat"),)),
        "replan",
        "watch_flat",
    ),
    (
        "need dropped",
        world(actor=PLANNER, todos=(todo(needs=("t-8",)),), needs={"t-8": "dropped"}),
        "replan",
        "need_dropped",
    ),
    (
        "condition dead",
        world(actor=PLANNER, todos=(todo(state="waiting", wait="done:t-8"),), dead_conditions=("t-1",)),
        "replan",
        "condition_dead",
    ),
    (
        "refused",
        world(actor=PLANNER, todos=(todo(state="waiting", wait="done:t-8"),), refused=("t-1",)),
        "replan",
        "decision_refused",
    ),
    (
        "criterion gap",
        world(actor=PLANNER, todos=(), unfinished=0, criteria=(criterion(check="k-1", reason="fail"),)),
        "replan",
        "criterion_gap",
    ),
    ("criterion of a person", world(todos=(), unfinished=0, done=1, criteria=(criterion(),)), "ask", "criterion_gap"),
    ("no successor", world(actor=PLANNER, todos=(), unfinished=0, successors=("t-1",)), "replan", "no_successor"),
    ("only decisions", world(decisions=(BLOCKED,)), "ask", "decision_open"),
    ("only a proposal", world(todos=(), unfinished=0, decisions=(decision(kind="proposal"),)), "ask", "decision_open"),
    ("no working place", world(places=(place(state="broken", reason="no disk"),)), "ask", "place_broken"),
    (
        "check cannot run",
        world(todos=(todo(check="k-1"),), checks={"k-1": check(baseline="cannot run")}),
        "ask",
        "place_broken",
    ),
    ("capability missing", world(todos=(todo(capabilities=("gpu",)),)), "ask", "capability_missing"),
    (
        "planning",
        world(actor=PLANNER, todos=(todo(stalls=3),), leases=(lease("g-1", actor="a-4"),)),
        "wait",
        "planning",
    ),
    ("held by another", world(leases=(lease(actor="a-4"),)), "wait", "held_by_other"),
    ("proving", world(todos=(todo(state="proving"),)), "wait", "proving"),
    ("condition open", world(todos=(todo(state="waiting", wait="done:t-8"),)), "wait", "condition_open"),
    ("nothing at all", world(todos=(), unfinished=0), "wait", "not_due"),
    ("place busy", world(busy_places=("pl-1",)), "wait", "held_by_other"),
    (
        "another turn in the place",
        world(todos=(todo(), todo("t-2")), turns=(turn(actor="a-4", todo="t-2", place="pl-1"),)),
        "wait",
        "held_by_other",
    ),
    (
        "engine proves a criterion",
        world(todos=(), unfinished=0, done=1, criteria=(criterion(check="k-1"),)),
        "wait",
        "not_due",
    ),
]


@pytest.mark.parametrize(("name", "snapshot", "kind", "reason"), ROW_CASES, ids=[case[0] for case in ROW_CASES])
def test_each_row_of_the_table(name: str, snapshot: Snapshot, kind: str, reason: str) -> None:
    found = judge(snapshot)
    assert (found.kind, found.reason) == (kind, reason)


@given(snapshots())
@settings(max_examples=400, deadline=None)
def test_every_snapshot_matches_a_row_and_equal_inputs_give_equal_bytes(snapshot: Snapshot) -> None:
    first, again = judge(snapshot), judge(snapshot)
    assert canonical(as_json(first)) == canonical(as_json(again))
    assert len(canonical(as_json(first))) <= VERDICT_BYTES


@given(snapshots())
@settings(max_examples=400, deadline=None)
def test_work_implies_that_the_named_todo_can_be_taken(snapshot: Snapshot) -> None:
    found = judge(snapshot)
    if found.kind != "work":
        return
    chosen = next(item for item in snapshot.todos if item.id == found.todo)
    assert snapshot.actor is not None
    assert obstacle(chosen, snapshot, snapshot.actor, NOW) is None
    assert blocking(snapshot, chosen.id) is None


@given(snapshots())
@settings(max_examples=400, deadline=None)
def test_below_row_11_no_todo_watch_or_review_was_there(snapshot: Snapshot) -> None:
    found = judge(snapshot)
    names = [row.__name__ for row in ROWS]
    late = next(name for row, name in zip(ROWS, names, strict=True) if row(snapshot, "g-1", "a-3", NOW) is not None)
    if names.index(late) < names.index("_replan") or snapshot.actor is None:
        return
    assert all(obstacle(item, snapshot, snapshot.actor, NOW) is not None for item in snapshot.todos)
    watching = snapshot.actor.state == "active" and [item for item in snapshot.watches if item.state == "watching"]
    assert not watching or all(item.due > NOW or item.actor != "a-3" for item in watching)
    assert found.kind in ("replan", "ask", "wait")


def test_one_bad_p0_never_blocks_a_good_p1() -> None:
    found = judge(world(todos=(todo("t-1"), todo("t-2")), decisions=(BLOCKED,), unfinished=2))
    assert (found.kind, found.todo) == ("work", "t-2")
    assert any("blocked by d-1" in item for item in found.notices)
    assert any(item.startswith("d-1 is open") for item in found.notices)


def test_rank_decides_and_the_own_lease_comes_first() -> None:
    todos = (todo("t-1", rank=50), todo("t-2", rank=20))
    assert judge(world(todos=todos)).todo == "t-2"
    assert judge(world(todos=todos, leases=(lease("t-1"),))).todo == "t-1"


def test_the_first_free_agent_in_the_goals_order_takes() -> None:
    both = (agent("a-4"), agent("a-3"))
    assert judge(world(agents=both)).reason == "held_by_other"
    assert judge(world(agents=both, limits=(limit("a-4"),))).kind == "work"
    assert judge(world(agents=both, turns=(turn(actor="a-4", todo="t-7"),))).kind == "work"
    assert judge(world(agents=(agent("a-4"),))).reason == "not_due"


def test_an_open_question_of_the_engine_is_named_and_not_asked_again() -> None:
    asked = decision(cause="budget_spent:abc")
    assert judge(world(spent_turns=100, decisions=(asked,))).decision == "d-1"
    assert judge(world(spent_turns=100)).decision is None


def test_next_look_is_the_earliest_moment_time_alone_changes_something() -> None:
    waiting = todo(state="waiting", wait=f"at:{NOW + 70}")
    assert judge(world(todos=(waiting,))).next_look == NOW + 70
    assert judge(world(todos=(waiting,), decisions=(decision(expires=NOW + 30),))).next_look == NOW + 30
    assert judge(world(limits=(limit(until=NOW + 5),))).next_look == NOW + 5
    assert judge(world(todos=(), unfinished=0)).next_look is None


def test_a_condition_of_time_that_passed_opens_the_todo() -> None:
    assert judge(world(todos=(todo(state="waiting", wait=f"at:{NOW}"),))).kind == "work"


def test_a_reviewer_never_reviews_its_own_claim_nor_in_a_running_place() -> None:
    due = todo(state="proving", review="due", claimed_by="a-3")
    assert judge(world(goal=goal(reviewers=("a-3",)), todos=(due,))).reason == "proving"
    other = replace(due, claimed_by="a-4")
    busy: dict[str, Any] = {"places": (place(holds="t-1"),), "turns": (turn(actor="a-4", todo="t-2", place="pl-1"),)}
    assert judge(world(goal=goal(reviewers=("a-3",)), todos=(other,), **busy)).kind == "wait"


def test_the_text_is_cut_and_the_json_stays_small() -> None:
    long = world(
        todos=tuple(todo(f"t-{n}", title="x" * 200) for n in range(1, 60)),
        decisions=tuple(decision(f"d-{n}", question="q" * 300) for n in range(1, 30)),
    )
    found = judge(long)
    assert len(found.text) <= 300
    assert len(canonical(as_json(found))) <= VERDICT_BYTES
    huge = replace(
        found, actions=tuple("a" * 600 for _ in range(5)), notices=tuple("n" * 600 for _ in range(5)), text="\x01" * 400
    )
    assert len(canonical(as_json(huge))) <= VERDICT_BYTES


def test_the_basis_moves_with_the_frontier_only() -> None:
    one, two = world(), world(todos=(todo(failures=1),))
    assert judge(one).basis == verdict(one, "g-1", "a-3", NOW + 10).basis
    assert judge(one).basis != judge(two).basis


def test_a_plan_in_force_needs_no_change() -> None:
    assert plan_must_change(world()) is None
    assert plan_must_change(world(criteria=(criterion(),), serving={1: 1})) is None


def test_planning_in_vain_becomes_a_question() -> None:
    stalled = world(actor=PLANNER, todos=(todo(stalls=3),))
    assert judge(replace(stalled, plans_in_vain=2)).kind == "replan"
    assert (judge(replace(stalled, plans_in_vain=3)).kind, judge(replace(stalled, plans_in_vain=3)).reason) == (
        "ask",
        "stalled",
    )


def test_nobody_replans_while_turns_run_or_claims_are_proved() -> None:
    stalled = todo("t-2", stalls=3)
    assert judge(world(todos=(stalled, todo(state="proving")))).reason == "proving"
    assert judge(world(todos=(stalled,), turns=(turn(actor="a-4", todo="t-9"),), places=())).kind == "wait"
