"""Rows of the verdict where two actors, a person or time meet: who is asked, who waits, and for what."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    NOW,
    agent,
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
)  # fmt: skip

from loopx_engine.commands.turn import choose_place
from loopx_engine.model.defaults import BACKOFF_MS, DAY, HOUR
from loopx_engine.model.limits import VERDICT_BYTES
from loopx_engine.rules.backoff import escalates, next_due, pace_of
from loopx_engine.rules.snapshot import Snapshot
from loopx_engine.rules.verdict import Verdict, as_json, verdict

PLANNER = agent("a-4", capabilities=("plan",))
GPU = agent("a-4", capabilities=("gpu",))
REVIEWED = goal(reviewers=("a-3",))
DUE = todo(state="proving", review="due", claimed_by="a-4")


def judge(snapshot: Snapshot, actor: str = "a-3", now: int = NOW) -> Verdict:
    return verdict(snapshot, "g-1", actor, now)


def kind(snapshot: Snapshot) -> tuple[str, str]:
    found = judge(snapshot)
    return found.kind, found.reason


# -- places ------------------------------------------------------------------------------------------------------------


def test_nothing_is_begun_in_a_place_where_ones_own_claim_is_being_proved() -> None:
    claimed = world(
        todos=(todo("t-1", state="proving"), todo("t-2")),
        turns=(turn(state="finishing", place="pl-1"),),
        leases=(lease(),),
        unfinished=2,
    )
    assert kind(claimed) == ("wait", "proving")
    assert judge(replace(claimed, places=(place(), place("pl-2")))).todo == "t-2"


@given(snapshots())
@settings(max_examples=300, deadline=None)
def test_work_names_a_todo_whose_place_the_transaction_finds_or_the_engine_makes(snapshot: Snapshot) -> None:
    found = judge(snapshot)
    ready = [item for item in snapshot.places if item.state == "ready"]
    if found.kind != "work" or not ready:
        return
    busy = {item.place for item in snapshot.turns} | set(snapshot.busy_places)
    set_aside = any(item.holds not in (None, found.todo) and item.id not in busy for item in ready)
    assert choose_place(snapshot, found.todo or "") is not None or set_aside


# -- what an agent lacks -----------------------------------------------------------------------------------------------


def test_a_capability_that_another_agent_of_the_goal_has_is_not_asked_for() -> None:
    needs_gpu = (todo(capabilities=("gpu",)),)
    limited = world(agents=(agent(), GPU), limits=(limit("a-4"),), todos=needs_gpu)
    assert kind(limited) == ("wait", "not_due")
    assert judge(limited).next_look == NOW + 5000
    assert kind(replace(limited, agents=(agent(), replace(GPU, state="retired")))) == ("ask", "capability_missing")
    assert kind(replace(limited, todos=(todo(capabilities=("gpu",), excluded=("a-4",)),))) == (
        "ask",
        "capability_missing",
    )
    assert kind(replace(limited, agents=(agent(), agent("a-4")))) == ("ask", "capability_missing")


def test_a_plan_that_another_agent_may_make_is_not_asked_for() -> None:
    stalled = world(agents=(agent(), PLANNER), limits=(limit("a-4"),), todos=(todo(stalls=3),))
    assert kind(stalled) == ("wait", "not_due")
    assert kind(replace(stalled, agents=(agent(), replace(PLANNER, state="retired")))) == ("ask", "stalled")


def test_who_is_retired_neither_reviews_nor_watches() -> None:
    review, polled = world(goal=REVIEWED, todos=(DUE,)), world(watches=(watch(),))
    assert judge(review).kind == "review"
    assert judge(polled).kind == "watch"
    retired = agent(state="retired")
    assert judge(replace(review, actor=retired)).kind == "wait"
    assert judge(replace(polled, actor=retired)).kind == "wait"


# -- persons -----------------------------------------------------------------------------------------------------------


def test_only_a_verified_correction_for_this_actor_goes_first() -> None:
    for origin in ("person", "channel"):
        assert kind(world(corrections=(correction(origin=origin, to="a-3"),))) == ("answer", "correction")
    for over in ({"origin": "person, unverified"}, {"origin": "agent"}, {"to": "a-9"}):
        assert judge(world(corrections=(correction(**over),))).kind == "work"
    second = (correction(to="a-9"), correction(text="the second"))
    assert "the second" in judge(world(corrections=second)).text


def test_an_offer_is_for_whom_it_names_while_it_lasts() -> None:
    assert judge(world(handoffs=(handoff(),))).reason == "handoff_offered"
    for over in ({"to": "a-9"}, {"giver": "a-3"}, {"expires": NOW}, {"todo": "t-9"}):
        assert judge(world(handoffs=(handoff(**over),))).reason == "next_open"
    assert judge(world(todos=(todo(excluded=("a-3",)),), handoffs=(handoff(),))).kind == "wait"


def test_what_only_a_person_can_meet_is_asked_even_of_an_agent_that_plans() -> None:
    planner = agent(capabilities=("plan",))
    open_one = world(actor=planner, todos=(), unfinished=0, done=1, criteria=(criterion(),))
    assert kind(open_one) == ("ask", "criterion_gap")
    assert judge(replace(open_one, done=0)).kind == "replan"
    failed = criterion(2, check="k-1", reason="fail")
    assert judge(replace(open_one, criteria=(criterion(), failed))).kind == "replan"
    other = replace(open_one, actor=agent(), agents=(agent(), PLANNER))
    assert kind(other) == ("ask", "criterion_gap")


# -- time --------------------------------------------------------------------------------------------------------------


def test_a_lease_whose_turn_is_gone_is_looked_at_when_it_ends() -> None:
    held = world(leases=(lease(actor="a-4", turn="u-7", expires=NOW + 40),))
    assert judge(held).next_look == NOW + 40
    assert judge(held, now=NOW + 40).kind == "work"
    running = replace(held, turns=(turn("u-7", actor="a-4", deadline=NOW + 900),))
    assert judge(running).next_look == NOW + 900, "the lease of a live turn is renewed; its turn has the deadline"


def test_each_moment_time_alone_brings_is_looked_at() -> None:
    idle = world(todos=(), unfinished=0)
    for over, moment in (
        ({"watches": (watch(due=NOW + 7),)}, NOW + 7),
        ({"limits": (limit("a-4", until=NOW + 8),)}, NOW + 8),
        ({"turns": (turn(actor="a-4", deadline=NOW + 9),)}, NOW + 9),
        ({"decisions": (decision(state="expired", expires=NOW + 5),)}, None),
    ):
        assert judge(replace(idle, **over)).next_look == moment


# -- the same verdict again ----------------------------------------------------------------------------------------------


STUCK = [
    world(leases=(lease(actor="a-4"),)),
    world(spent_turns=100),
    world(todos=(todo(stalls=3),)),
    world(todos=(todo(state="waiting", wait="done:t-8"),)),
]


def test_the_engines_own_question_makes_no_verdict_new() -> None:
    for stuck in STUCK:
        before = judge(stuck)
        asked = decision("d-7", kind="proposal", cause=f"{before.reason}:{before.basis[:24]}")
        assert judge(replace(stuck, decisions=(asked,))).basis == before.basis
        assert judge(replace(stuck, decisions=(replace(asked, blocks=("t-1",)),))).basis != before.basis
        assert judge(replace(stuck, decisions=(replace(asked, cause=""),))).basis != before.basis


def test_two_hundred_hours_of_the_same_verdict_are_few_looks_and_one_question() -> None:
    for stuck in STUCK:
        now, repeats, last, looks, questions = NOW, 0, "", 0, set()
        snapshot = stuck
        while now < NOW + 200 * HOUR:
            found = judge(replace(snapshot, leases=tuple(replace(item, expires=now + DAY) for item in snapshot.leases)))
            repeats = repeats + 1 if found.basis == last else 0
            last, looks = found.basis, looks + 1
            if (found.kind == "ask" and not found.decision) or escalates(repeats):
                questions.add(f"{found.reason}:{found.basis[:24]}")
                snapshot = replace(stuck, decisions=(decision(cause=f"{found.reason}:{found.basis[:24]}"),))
            now = next_due(pace_of(found.kind, found.reason), repeats, now, "g-1")
        _, most = BACKOFF_MS[pace_of(found.kind, found.reason)]
        assert looks <= 200 * HOUR // most + 12
        assert len(questions) <= 1, "asked once on one frontier"


# -- size --------------------------------------------------------------------------------------------------------------

WIDE = st.text(st.sampled_from('aé😀\x01"\\世'), max_size=300)


@given(WIDE, st.lists(WIDE, max_size=6), st.integers(1, 10**15))
@settings(max_examples=200, deadline=None)
def test_a_printed_verdict_is_at_most_two_kilobytes_in_any_script(title: str, questions: list[str], ahead: int) -> None:
    many = tuple(decision(f"d-{n}", question=question) for n, question in enumerate(questions, 1))
    waiting = todo("t-2", state="waiting", wait=f"at:{NOW + ahead}")
    found = judge(world(todos=(todo(title=title), waiting), decisions=many))
    printed = json.dumps({"schema": "loopx.next/1", **as_json(found)}, ensure_ascii=True)
    assert len(printed.encode()) <= VERDICT_BYTES
    assert as_json(found)["kind"] == "work"


def test_the_answer_outlives_its_decoration() -> None:
    row: dict[str, Any] = as_json(
        Verdict(
            kind="work", reason="next_open", text="😀" * 300, todo="t-1", actions=("a" * 900,) * 3, notices=("n" * 900,)
        )
    )
    assert (row["kind"], row["reason"], row["todo"], row["notices"]) == ("work", "next_open", "t-1", [])
    assert row["text"].startswith("😀")
