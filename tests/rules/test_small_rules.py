"""Risk, roles, budgets, back-off, progress, proof, scopes, leases, findings: each rule's sentences of MODEL.md."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DAY, NOW, check, goal, lease, place, todo, turn

from loopx_engine.model.defaults import BACKOFF_MS
from loopx_engine.model.effect import Effect
from loopx_engine.places.tree import matches
from loopx_engine.rules.backoff import ESCALATE_AFTER, escalates, next_due, pace_of
from loopx_engine.rules.budget import exceeded
from loopx_engine.rules.findings import broken_place, in_order, lost_turn, sleeping_goal, uncertain_effect
from loopx_engine.rules.lease import check_durations, holds, next_epoch
from loopx_engine.rules.progress import REMEMBERED, frontier, progressed, remembered
from loopx_engine.rules.proof import count_dropped, proof_of, protected, serves_criterion
from loopx_engine.rules.risk import raise_only, risk_of
from loopx_engine.rules.roles import at_least, may_answer
from loopx_engine.rules.scopes import covers, outside


@pytest.mark.parametrize(
    ("kind", "params", "protected_refs", "expected"),
    [
        ("push", {"ref": "feature"}, (), "medium"), ("push", {"ref": "main"}, (), "high"), ("push", {}, (), "high"),
        ("push", {"ref": "refs/heads/dev"}, ("dev",), "high"), ("merge", {"into": "main"}, ("main",), "medium"),
        ("publish", {}, (), "high"), ("production", {}, (), "high"), ("secret", {}, (), "high"), ("grant", {}, (), "high"),
        ("read", {}, (), "low"), ("spend", {}, (), "medium"), ("something new", {}, (), "high"),
    ],
)  # fmt: skip
def test_the_engine_sets_the_least_risk(
    kind: str, params: dict[str, object], protected_refs: tuple[str, ...], expected: str
) -> None:
    assert risk_of(kind, params, protected_refs) == expected


def test_an_asker_can_only_raise_the_risk() -> None:
    assert raise_only("high", "low") == "high"
    assert raise_only("low", "medium") == "medium"


def test_roles_answer_up_to_their_risk_and_a_channel_never_high() -> None:
    assert [may_answer("owner", risk) for risk in ("low", "medium", "high")] == [True, True, True]
    assert [may_answer("decider", risk) for risk in ("low", "medium", "high")] == [True, True, False]
    assert not any(may_answer(role, "low") for role in ("operator", "observer", ""))
    assert [may_answer("owner", risk, channel=True) for risk in ("low", "medium", "high")] == [True, True, False]
    assert may_answer("decider", "medium", channel=True)
    assert at_least("owner", "decider")
    assert not at_least("observer", "operator")
    assert not at_least("", "observer")


SPENT: dict[str, int | None] = {"turns": 0, "tokens": None, "cost": None}


def test_budgets_count_what_is_known_and_name_the_unit() -> None:
    assert exceeded(goal(), SPENT, NOW) is None
    assert exceeded(goal(), {**SPENT, "turns": 100}, NOW) == ("turns", 100, 100)
    assert exceeded(goal(active_since=NOW - 14 * DAY), SPENT, NOW) == ("days", 14, 14)
    assert exceeded(goal(active_since=None), SPENT, NOW) is None
    assert exceeded(goal(active_since=NOW + DAY), SPENT, NOW) is None
    assert exceeded(goal(budget_tokens=10), {**SPENT, "tokens": 10}, NOW) == ("tokens", 10, 10)
    assert exceeded(goal(budget_cost=10), {**SPENT, "cost": 9}, NOW) is None
    assert exceeded(goal(budget_tokens=1), SPENT, NOW) is None, "unknown usage is not taken for zero or for spent"


@given(st.sampled_from(sorted(BACKOFF_MS)), st.integers(0, 10_000), st.text(max_size=9))
def test_back_off_doubles_to_a_cap_and_never_polls_fast_for_ever(pace: str, repeats: int, seed: str) -> None:
    first, most = BACKOFF_MS[pace]
    due = next_due(pace, repeats, NOW, seed)
    assert NOW + first <= due <= NOW + most + most // 10
    if repeats > 60:
        assert due >= NOW + most
    assert next_due(pace, repeats, NOW, seed) == due


def test_a_change_starts_at_once_and_the_classes_follow_the_verdict() -> None:
    assert next_due("work", 0, NOW) == NOW
    assert NOW < next_due("work", 1, NOW) < next_due("work", 2, NOW)
    assert [pace_of(kind, "") for kind in ("work", "ask", "wait")] == ["work", "person", "idle"]
    assert pace_of("wait", "held_by_other") == "others"
    assert [n for n in range(100) if escalates(n)] == [ESCALATE_AFTER]


def frontier_with(**over: Any) -> str:
    given: dict[str, Any] = {"goal": 1, "todos": {"open": 1}, "criteria": ((1, "open"),), "evidence": 0}
    return frontier(**{**given, "decisions": {}, "tree": "t", **over})


def test_progress_is_a_new_frontier_and_churn_is_none() -> None:
    first, second = frontier_with(), frontier_with(tree="u")
    assert first == frontier_with()
    assert progressed(first, second, ())
    assert not progressed(first, first, ())
    assert not progressed(first, second, (second,))
    for over in (
        {"goal": 2},
        {"todos": {"open": 2}},
        {"criteria": ((1, "met"),)},
        {"evidence": 1},
        {"decisions": {"open": 1}},
    ):
        assert frontier_with(**over) != first


def test_the_last_frontiers_are_remembered() -> None:
    seen: tuple[str, ...] = ()
    for number in range(20):
        seen = remembered(seen, str(number))
    assert seen == tuple(str(n) for n in range(20 - REMEMBERED, 20))
    assert remembered(("a", "b"), "a") == ("b", "a")


def proof(**over: Any) -> str:
    given: dict[str, Any] = {"check": check(), "outcome": "pass", "taken_at": NOW, "executor": "a-3", "current": True}
    return proof_of(**{**given, **over})


def test_a_pass_counts_by_who_set_the_check_and_when() -> None:
    assert proof() == "proved"
    assert proof(check=None) == "not proved"
    assert proof(outcome="fail") == "refused"
    assert proof(outcome="cannot run") == "refused"
    assert proof(current=False) == "refused"
    assert proof(check=check(set_by="a-3")) == "self-checked"
    assert proof(check=check(set_at=NOW + 1)) == "self-checked"


def test_a_change_to_what_the_check_protects_needs_a_review() -> None:
    assert proof(changed=("src/a.py",)) == "proved"
    assert proof(changed=("tests/test_a.py",)) == "needs review"
    assert proof(changed=("tests/test_a.py",), review="pass") == "proved"
    assert protected(check(argv=("python", "verify/run.py", "-x")), ("verify/run.py", "a.py")) == ("verify/run.py",)
    assert protected(check(protects=("spec/**",)), ("spec/a", "tests/test_a.py")) == ("spec/a",)
    assert protected(check(), ("pkg/a.test.ts", "b.py")) == ("pkg/a.test.ts",)


def test_only_proved_work_serves_a_criterion() -> None:
    assert [serves_criterion(name) for name in ("proved", "reviewed", "confirmed", "self-checked", "not proved")] == [
        True
    ] * 3 + [False] * 2


def test_fewer_tests_than_before_is_said() -> None:
    assert count_dropped(100, 97) == "97 tests ran, 100 at the last accepted run"
    assert [count_dropped(*pair) for pair in ((None, 1), (1, None), (5, 5), (5, 6))] == [""] * 4


def test_scopes_cover_paths_as_places_do() -> None:
    assert outside(("src/a.py", "docs/b.md"), ("src",)) == ("docs/b.md",)
    assert outside(("anything",), ()) == ()
    assert covers("**/*.py", "a.py")
    assert covers("./src/*", "src/a/b.py")
    assert not covers("src/*.py", "src/a/b.py")
    assert not covers("a/b", "a")


NAME = st.text(alphabet="ab.", min_size=1, max_size=3)
GLOB = st.lists(st.sampled_from(["a", "b", "*", "**", "?", "a*", "*.b"]), min_size=1, max_size=4).map("/".join)


@given(GLOB, st.lists(NAME, min_size=1, max_size=4).map("/".join))
def test_scopes_mean_what_the_inputs_of_checks_mean(glob: str, path: str) -> None:
    assert covers(glob, path) == matches((glob,), path)


def test_lease_durations_keep_their_order_and_epochs_only_grow() -> None:
    check_durations()
    with pytest.raises(ValueError, match="out of order"):
        check_durations(ttl=10, give_up=20, renew=1)
    assert next_epoch(None) == 1
    assert next_epoch(lease(epoch=4)) == 5
    assert holds(lease(), "u-1", 1)
    for wrong in (None, lease(epoch=2), lease(turn="u-2"), lease(state="free")):
        assert not holds(wrong, "u-1", 1)


def test_findings_say_what_happened_and_name_ways_out() -> None:
    lost = lost_turn(turn(state="lost", reason="the engine is gone"), todo())
    assert lost is not None
    assert lost.choices
    assert lost_turn(turn(state="settled"), todo()) is None
    assert lost_turn(turn(state="lost"), None) is None
    assert lost_turn(turn(state="lost"), todo(state="done")) is None
    broken = broken_place(place(state="broken", reason="no disk\nmore"), NOW)
    assert broken is not None
    assert broken.happened == "no disk"
    silent = broken_place(place(state="broken"), NOW)
    assert silent is not None
    assert silent.happened
    assert broken_place(place(), NOW) is None
    effect = Effect(
        id="x-1", goal="g-1", action="push", params={}, digest="", key="x-1", state="uncertain", created_at=NOW
    )
    assert uncertain_effect(effect) is not None
    assert uncertain_effect(replace(effect, state="done")) is None
    sleeping = sleeping_goal(goal(), False, NOW)
    assert sleeping is not None
    assert sleeping_goal(goal(), True, NOW) is None
    assert sleeping_goal(goal(phase="paused"), False, NOW) is None
    assert in_order([None, sleeping, lost])[0] == lost
