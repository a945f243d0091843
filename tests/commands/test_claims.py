"""From a claim to its proof: done is measured, a refusal can be mended, and no old epoch changes anything (MODEL.md 3, 4)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import OTHER_TREE, TREE, Kit, kit

from loopx_engine.commands.draft import Draft
from loopx_engine.commands.taking import take_lease
from loopx_engine.errors import NotFound, Refused, StateMoved, UsageError, WaitsForPerson
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.defaults import LEASE_MS, TURN_MENDS, TURN_WALL_MS
from loopx_engine.model.effect import Effect
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.identity import Identity
from loopx_engine.model.lease import Lease
from loopx_engine.model.place import Place
from loopx_engine.model.session import Session
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn

__all__ = ["kit"]

TEST = ("make", "test")


class Work:
    """A goal with one criterion and one todo that serves it, both with a check, and an agent that began it."""

    def __init__(
        self, kit: Kit, *, check: tuple[str, ...] = TEST, goal: dict[str, Any] | None = None, **todo: Any
    ) -> None:
        self.kit = kit
        self.agent = kit.agent("bot", capability=["plan"])
        self.goal = kit.goal(criterion=(("it works", TEST),), **(goal or {}))
        self.todo = kit.todo(self.goal, serves=(1,), check=check, **todo)
        self.check = kit.get(Todo, self.todo).check or ""
        self.who = kit.begin(self.agent, todo=self.todo)

    def prove(self, outcome: str = "pass", **given: Any) -> dict[str, Any]:
        """The claim of the turn, and what the engine made of it."""
        self.kit.finish(self.who)
        return self.settle(outcome, **given)

    def settle(self, outcome: str = "pass", **given: Any) -> dict[str, Any]:
        return self.kit.settle(
            self.who, **{"outcome": outcome, "check": self.check, "exit": int(outcome != "pass"), **given}
        )

    @property
    def now(self) -> Todo:
        return self.kit.get(Todo, self.todo)

    @property
    def turn(self) -> Turn:
        return self.kit.get(Turn, str(self.who.turn))

    @property
    def lease(self) -> Lease:
        return self.kit.get(Lease, self.todo)


@pytest.fixture
def work(kit: Kit) -> Work:
    return Work(kit)


# -- proved ---------------------------------------------------------------------------------------------------------------


def test_a_pass_makes_the_todo_done_frees_the_lease_and_intends_one_commit(work: Work) -> None:
    answer = work.prove(changed=["src/a.py"], dirty=True, count=12, sandbox="bubblewrap")
    assert (answer["state"], answer["result"], answer["proof"]) == ("settled", "done", "proved")
    assert (work.now.state, work.now.proof, work.lease.state) == ("done", "proved", "free")
    evidence = work.kit.get(Evidence, str(work.now.evidence))
    assert (evidence.outcome, evidence.tree, evidence.count, evidence.sandbox) == ("pass", TREE, 12, "bubblewrap")
    assert (evidence.made_by, evidence.verified_by) == (work.agent, "a-2")
    effect = work.kit.get(Effect, answer["commit"])
    assert (effect.action, effect.params["tree"], effect.todo) == ("commit", TREE, work.todo)
    assert work.kit.get(Place, "pl-1").holds is None


def test_nothing_changed_means_nothing_to_commit(work: Work) -> None:
    assert work.prove()["commit"] is None


def test_the_commit_is_noted_on_its_todo_and_its_place(work: Work) -> None:
    effect = work.prove(changed=["src/a.py"])["commit"]
    work.kit.act("effect attempt", effect=effect)
    with pytest.raises(Refused) as caught:
        work.kit.act("effect attempt", effect=effect)
    assert caught.value.code == "effect_attempted"
    work.kit.act("effect settle", effect=effect, state="done", value="c" * 40)
    for state in ("done", "failed", "uncertain"):
        with pytest.raises(Refused) as settled:
            work.kit.act("effect settle", effect=effect, state=state)
        assert settled.value.code == "effect_settled"
    assert (work.now.commit, work.kit.get(Place, "pl-1").head) == ("c" * 40, "c" * 40)
    assert [item.kind for item in work.kit.all(Evidence)] == ["check", "commit"]


def test_an_uncertain_commit_is_settled_later_and_never_tried_twice(work: Work) -> None:
    effect = work.prove(changed=["src/a.py"])["commit"]
    work.kit.act("effect attempt", effect=effect)
    work.kit.act("effect settle", effect=effect, state="uncertain", detail="the machine went down")
    assert work.kit.get(Effect, effect).ended_at is None
    with pytest.raises(Refused):
        work.kit.act("effect attempt", effect=effect)
    work.kit.act("effect settle", effect=effect, state="done", value="c" * 40)
    assert work.now.commit == "c" * 40


def test_the_claim_is_on_disk_before_it_is_proved(work: Work) -> None:
    answer = work.kit.finish(work.who, summary="mended the parser", successor="", no_successor="it was the last")
    assert answer["state"] == "proving"
    assert (work.turn.state, work.turn.claimed_by, work.turn.summary) == ("finishing", work.agent, "mended the parser")
    assert (work.turn.claim or {})["outcome"] == "done"
    assert (work.now.state, work.lease.state) == ("proving", "held")
    with pytest.raises(Refused, match="finishing"):
        work.kit.finish(work.who)
    with pytest.raises(Refused):
        work.kit.act("turn lose", turn=work.who.turn, reason="its process is gone")


def test_a_todo_without_any_check_ends_done_but_not_proved(kit: Kit) -> None:
    work = Work(kit, check=())
    assert work.prove(check="", outcome="none")["proof"] == "not proved"
    assert work.now.evidence is None


def test_a_todo_without_a_check_is_proved_by_its_goals_default_check(kit: Kit) -> None:
    work = Work(kit, check=(), goal={"check": ["make", "all"]})
    default = next(item.id for item in kit.all(Check) if item.argv == ("make", "all"))
    work.kit.finish(work.who)
    with pytest.raises(StateMoved, match="another now"):
        kit.settle(work.who)
    assert kit.settle(work.who, check=default, outcome="pass")["proof"] == "proved"


def test_a_todo_with_a_check_never_becomes_done_without_its_pass(work: Work) -> None:
    work.kit.finish(work.who)
    before = work.kit.seq()
    for given in ({"check": ""}, {"check": "k-1"}):
        with pytest.raises(StateMoved) as caught:
            work.kit.settle(work.who, outcome="pass", **given)
        assert caught.value.code == "inputs_moved"
    assert (work.kit.seq(), work.now.state) == (before, "proving")
    assert work.settle("none")["result"] == "refused"


def test_a_check_that_was_replaced_while_it_ran_proves_nothing(work: Work) -> None:
    work.kit.finish(work.who)
    work.kit.clock.advance(1)
    work.kit.sign("check set", subject=work.todo, argv=["make", "more"])
    with pytest.raises(StateMoved):
        work.settle()
    fresh = str(work.now.check)
    assert work.settle(check=fresh)["proof"] == "self-checked"


def test_a_check_set_after_the_work_was_taken_proves_no_more_than_self_checked(work: Work) -> None:
    work.kit.clock.advance(1)
    work.kit.sign("check set", subject=work.todo, argv=["true"])
    assert work.prove(check=str(work.now.check))["proof"] == "self-checked"


def test_an_agents_own_check_proves_no_more_than_self_checked(kit: Kit) -> None:
    work = Work(kit)
    mine = str(kit.turn(work.who, "todo add", goal=work.goal, title="My own", check=["true"])["todo"])
    work.prove()
    work.kit.clock.advance(1)
    answer = kit.done(work.agent, mine, check=str(kit.get(Todo, mine).check), outcome="pass")
    assert answer["proof"] == "self-checked"


def test_inputs_that_moved_while_the_check_ran_settle_nothing(work: Work) -> None:
    work.kit.finish(work.who)
    before = work.kit.seq()
    with pytest.raises(StateMoved) as caught:
        work.settle(tree_now=OTHER_TREE)
    assert (caught.value.code, work.kit.seq(), work.now.state) == ("inputs_moved", before, "proving")
    assert work.settle()["proof"] == "proved"


def test_a_claim_is_settled_once(work: Work) -> None:
    work.prove()
    with pytest.raises(Refused) as caught:
        work.settle()
    assert caught.value.code == "not_finishing"


def test_a_drop_in_the_number_of_tests_is_noted(work: Work) -> None:
    work.prove(count=12)
    work.kit.clock.advance(1)
    work.kit.say("todo reopen", todo=work.todo)
    work.who = work.kit.begin(work.agent, todo=work.todo)
    work.prove(count=9)
    assert work.kit.get(Evidence, str(work.now.evidence)).ref == "9 tests ran, 12 at the last accepted run"


# -- refused --------------------------------------------------------------------------------------------------------------


def test_a_refusal_can_be_mended_in_the_same_turn_three_times(work: Work) -> None:
    for mend in range(1, TURN_MENDS + 1):
        answer = work.prove("fail", mendable=True, tail="1 failed")
        assert (answer["refused"], answer["tail"], answer["mends"]) == (True, "1 failed", mend)
        assert (answer["state"], work.now.state, work.lease.state) == ("open", "open", "held")
    answer = work.prove("fail", mendable=True, tail="1 failed", dirty=True)
    assert (answer["state"], answer["result"]) == ("settled", "refused")
    assert (work.now.state, work.now.failures, work.lease.state) == ("open", 1, "free")
    assert work.kit.get(Place, "pl-1").holds == work.todo


def test_a_mended_claim_is_proved_like_any_other(work: Work) -> None:
    work.prove("fail", mendable=True)
    assert work.prove()["proof"] == "proved"


def test_a_refusal_ends_the_turn_once_its_actor_left_or_its_time_is_up(kit: Kit) -> None:
    work = Work(kit)
    assert work.prove("fail")["result"] == "refused"
    work.who = kit.begin(work.agent, todo=work.todo)
    kit.finish(work.who)
    kit.clock.advance(TURN_WALL_MS)
    assert work.settle("fail", mendable=True)["result"] == "refused"


def test_a_check_that_cannot_run_is_told_apart_from_one_that_fails_and_breaks_the_place(work: Work) -> None:
    answer = work.prove("cannot run", tail="make: not found")
    assert (answer["cannot_run"], answer["result"], answer["tail"]) == (True, "failed", "make: not found")
    place = work.kit.get(Place, "pl-1")
    assert place.state == "broken"
    assert "make test" in place.reason
    assert "make: not found" in place.reason
    assert (work.now.state, work.kit.engine.verdict(work.goal, work.agent).reason) == ("open", "place_broken")
    work.kit.say("place retry", place="pl-1")
    work.kit.act("place settle", place="pl-1", state="ready", sandbox="none")
    work.who = work.kit.begin(work.agent, todo=work.todo)
    work.kit.act("place settle", place="pl-1", state="broken", reason="a disk went away")
    assert work.prove("cannot run")["cannot_run"]


def test_what_lies_outside_the_todos_scopes_is_refused(kit: Kit) -> None:
    work = Work(kit, scope=["src/**"])
    answer = work.prove(mendable=True, changed=["src/a.py", "docs/b.md", "c.txt"])
    assert answer["refused"]
    assert answer["tail"] == "changed outside its scopes: docs/b.md, c.txt"
    assert work.prove(changed=["src/a.py"])["proof"] == "proved"


# -- reviews --------------------------------------------------------------------------------------------------------------


def reviewed(kit: Kit, **given: Any) -> tuple[Work, str]:
    """A claim that waits for its review, and the reviewer."""
    reviewer = kit.agent("critic")
    work = Work(kit, goal={"reviewer": ["critic"]}, **given)
    answer = work.prove(changed=["src/a.py"], dirty=True)
    assert (answer["review"], answer["result"], work.now.state, work.lease.state) == ("due", "done", "proving", "free")
    return work, reviewer


def test_a_goal_with_reviewers_lets_nothing_be_done_unreviewed(kit: Kit) -> None:
    work, reviewer = reviewed(kit)
    assert kit.engine.verdict(work.goal, work.agent).reason == "proving"
    assert kit.engine.verdict(work.goal, reviewer).kind == "review"
    for agent in (work.agent, kit.agent("third")):
        with pytest.raises(Refused):
            kit.begin(agent, todo=work.todo)


def test_a_review_that_passes_makes_the_todo_done_as_reviewed(kit: Kit) -> None:
    work, reviewer = reviewed(kit)
    who = kit.begin(reviewer, todo=work.todo)
    assert kit.get(Turn, str(who.turn)).purpose == "review"
    kit.finish(who, result="pass", summary="read every line")
    answer = kit.settle(who, dirty=True)
    assert (work.now.state, work.now.proof, work.now.review) == ("done", "reviewed", "pass")
    assert kit.get(Effect, answer["commit"]).action == "commit"
    evidence = kit.get(Evidence, str(work.now.evidence))
    assert (evidence.kind, evidence.outcome, evidence.made_by, evidence.ref) == (
        "review",
        "pass",
        reviewer,
        "read every line",
    )


def test_a_review_that_fails_opens_the_todo_again(kit: Kit) -> None:
    work, reviewer = reviewed(kit)
    who = kit.begin(reviewer, goal=work.goal)
    kit.finish(who, result="fail", evidence=["notes.md"])
    assert kit.settle(who)["review"] == "fail"
    assert (work.now.state, work.now.review, work.now.failures) == ("open", "fail", 1)
    kit.clock.advance(1)
    work.who = kit.begin(work.agent, todo=work.todo)
    assert work.prove(changed=["src/a.py"])["review"] == "due"


def test_a_review_that_comes_to_nothing_leaves_the_claim_waiting(kit: Kit) -> None:
    work, reviewer = reviewed(kit)
    who = kit.begin(reviewer, todo=work.todo)
    kit.finish(who, "progress")
    assert kit.settle(who)["result"] == "failed"
    assert (work.now.state, work.now.review) == ("proving", "due")


def test_a_review_ends_with_a_result_and_says_what_was_looked_at(kit: Kit) -> None:
    work, reviewer = reviewed(kit)
    who = kit.begin(reviewer, todo=work.todo)
    for given in ({}, {"result": "pass"}, {"result": "fail", "summary": "  "}):
        with pytest.raises(UsageError) as caught:
            kit.finish(who, **given)
        assert caught.value.code == "missing_argument"
    kit.turn(who, "turn abandon", turn=who.turn)
    assert work.now.state == "proving"


def test_a_change_to_the_protected_tests_needs_a_review_before_it_counts(kit: Kit) -> None:
    work = Work(kit)
    answer = work.prove(changed=["src/a.py", "tests/test_a.py"])
    assert answer["review"] == "due"
    assert (work.now.state, work.now.claimed_by, work.now.review) == ("proving", work.agent, "due")
    assert kit.get(Place, "pl-1").holds == work.todo
    kit.agent("critic")
    kit.sign("goal edit", goal=work.goal, reviewer=["critic"])
    critic = kit.begin("a-4", todo=work.todo)
    kit.finish(critic, result="pass", summary="the new test is right")
    kit.settle(critic)
    assert work.now.proof == "reviewed"


def test_globs_of_a_check_say_which_files_it_protects(kit: Kit) -> None:
    work = Work(kit)
    kit.turn(work.who, "turn abandon", turn=work.who.turn)
    kit.sign("check set", subject=work.todo, argv=["make"], protects=["golden/**"])
    kit.clock.advance(1)
    work.check = str(work.now.check)
    work.who = kit.begin(work.agent, todo=work.todo)
    assert work.prove(changed=["golden/a.txt"])["review"] == "due"


# -- criteria -------------------------------------------------------------------------------------------------------------


def test_a_criterion_is_met_by_the_engines_run_and_stale_after_a_later_change(kit: Kit) -> None:
    work = Work(kit)
    work.prove(changed=["a"])
    answer = kit.act("criterion prove", criterion="c-1", outcome="pass", tree=TREE, exit=0, count=3)
    assert answer["state"] == "met"
    first = kit.get(Evidence, answer["evidence"])
    assert (first.criterion, first.tree, first.state) == ("c-1", TREE, "fresh")
    more = kit.todo(work.goal, "More", check=TEST)
    kit.done(work.agent, more, check=str(kit.get(Todo, more).check), outcome="pass")
    assert kit.get(Criterion, "c-1").state == "met"
    other = kit.todo(work.goal, "Even more", check=TEST)
    kit.done(work.agent, other, check=str(kit.get(Todo, other).check), outcome="pass", changed=["b"])
    assert kit.get(Criterion, "c-1").state == "stale"
    failed = kit.act("criterion prove", criterion="c-1", outcome="fail", tree=OTHER_TREE, tail="no")
    criterion = kit.get(Criterion, "c-1")
    assert (criterion.state, criterion.reason, criterion.failed_tree) == ("open", "fail", OTHER_TREE)
    assert kit.get(Evidence, first.id).stale_reason == "its check ran again"
    assert criterion.evidence == failed["evidence"]
    kit.act("criterion prove", criterion="c-1", outcome="cannot run")
    assert kit.get(Criterion, "c-1").reason == "cannot run"


def test_a_new_check_makes_a_met_criterion_stale_with_its_evidence(kit: Kit) -> None:
    work = Work(kit)
    evidence = kit.act("criterion prove", criterion="c-1", outcome="pass", tree=TREE)["evidence"]
    old = str(kit.get(Criterion, "c-1").check)
    kit.sign("check set", subject="c-1", argv=["make", "better"])
    assert kit.get(Criterion, "c-1").state == "stale"
    assert (kit.get(Evidence, evidence).state, kit.get(Check, old).state) == ("stale", "replaced")
    kit.sign("check set", subject="c-1", argv=["make", "best"])
    assert work.now.state == "open"


# -- other ends -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", ["progress", "blocked", "failed"])
def test_a_turn_that_claims_no_done_opens_its_todo_again(kit: Kit, outcome: str) -> None:
    work = Work(kit)
    assert kit.finish(work.who, outcome)["state"] == "finishing"
    assert kit.settle(work.who, dirty=True)["result"] == outcome
    assert (work.now.state, work.lease.state, kit.get(Place, "pl-1").holds) == ("open", "free", work.todo)
    assert work.now.failures == int(outcome == "failed")


def test_a_turn_that_ended_blocked_leaves_its_questions_in_the_way(kit: Kit) -> None:
    work = Work(kit)
    decision = kit.turn(work.who, "decision ask", goal=work.goal, question="Which one?")["decision"]
    kit.say("decision ask", goal=work.goal, question="And this?")
    kit.act("turn end", turn=work.who.turn, result="blocked", reason="it waits")
    ruling = kit.engine.verdict(work.goal, work.agent)
    assert (ruling.reason, ruling.decision) == ("decision_open", decision)


def test_a_plan_turn_without_a_todo_ends_with_what_it_said(kit: Kit) -> None:
    agent = kit.agent("planner", capability=["plan"])
    goal = kit.goal(criterion=(("it works", ()),))
    who = kit.begin(agent, goal=goal)
    turn = kit.get(Turn, str(who.turn))
    assert (turn.purpose, turn.todo, kit.get(Lease, goal).turn) == ("replan", None, turn.id)
    kit.turn(who, "decision propose", goal=goal, question="This plan?", commands=[])
    kit.finish(who)
    assert kit.settle(who)["result"] == "done"
    assert kit.get(Lease, goal).state == "free"


def test_a_draft_is_planned_by_an_agent_that_can_plan(kit: Kit) -> None:
    agent = kit.agent("planner", capability=["plan"])
    goal = kit.draft()
    who = kit.begin(agent, goal=goal)
    assert kit.get(Turn, str(who.turn)).purpose == "plan"
    with pytest.raises(Refused) as caught:
        kit.turn(who, "handoff offer", turn=who.turn, note="you do it")
    assert caught.value.code == "no_todo"
    kit.turn(who, "turn abandon", turn=who.turn, reason="no idea")
    assert kit.get(Turn, str(who.turn)).result == "interrupted"


def test_a_finish_says_what_the_turn_came_to(work: Work) -> None:
    for given, code in (
        ({"outcome": ""}, "missing_argument"),
        ({"outcome": "great"}, "bad_choice"),
        ({"outcome": "done", "result": "pass"}, "bad_argument"),
        ({"outcome": "done", "successor": "t-99"}, "not_found"),
    ):
        before = work.kit.seq()
        with pytest.raises((UsageError, NotFound)) as caught:
            work.kit.turn(work.who, "turn finish", turn=work.who.turn, **given)
        assert (given, caught.value.code, work.kit.seq()) == (given, code, before)


def test_a_successor_is_a_todo_of_the_same_goal_and_stands_on_the_todo(work: Work) -> None:
    other = work.kit.goal("Other", project="p-1")
    stranger, mine = work.kit.todo(other), work.kit.todo(work.goal, "And then")
    with pytest.raises(UsageError) as caught:
        work.kit.finish(work.who, successor=stranger)
    assert caught.value.code == "other_goal"
    work.kit.finish(work.who, successor=mine)
    work.settle()
    assert (work.now.successor, work.now.no_successor) == (mine, "")


# -- leases and epochs ----------------------------------------------------------------------------------------------------


def under_a_lease(work: Work) -> list[tuple[str, dict[str, Any]]]:
    turn, goal = work.who.turn, work.goal
    return [
        ("turn extend", {"turn": turn}),
        ("turn finish", {"turn": turn, "outcome": "done"}),
        ("turn abandon", {"turn": turn}),
        ("lease release", {"turn": turn}),
        ("handoff offer", {"turn": turn, "note": "half done"}),
        ("evidence add", {"turn": turn, "kind": "note", "ref": "seen"}),
        ("todo add", {"goal": goal, "title": "more"}),
        ("decision ask", {"goal": goal, "question": "which?"}),
        ("decision propose", {"goal": goal, "question": "this?", "commands": []}),
        ("decision withdraw", {"decision": "d-1"}),
        ("message send", {"goal": goal, "text": "hello"}),
        ("message consume", {"message": "m-1"}),
    ]


@pytest.mark.parametrize("column", ["epoch = epoch + 1", "turn = 'u-99'", "state = 'free'"])
def test_an_old_epoch_is_refused_for_every_operation_under_a_lease(work: Work, column: str) -> None:
    work.kit.tamper(f"update lease set {column} where id = :id", id=work.todo)
    before = work.kit.seq()
    for verb, given in under_a_lease(work):
        with pytest.raises(Refused) as caught:
            work.kit.turn(work.who, verb, **given)
        assert (verb, caught.value.code) == (verb, "stale_epoch")
    assert work.kit.seq() == before


def test_a_claim_of_an_old_epoch_is_not_settled(work: Work) -> None:
    work.kit.finish(work.who)
    work.kit.tamper("update lease set epoch = epoch + 1 where id = :id", id=work.todo)
    with pytest.raises(Refused) as caught:
        work.settle()
    assert caught.value.code == "stale_epoch"


def test_a_lease_that_a_person_took_frees_the_todo_and_ends_the_turn(work: Work) -> None:
    answer = work.kit.sign("lease take", todo=work.todo)
    assert (answer["turn"], answer["result"], work.lease.state) == (work.who.turn, "interrupted", "free")
    for verb, given in under_a_lease(work):
        with pytest.raises(Refused) as caught:
            work.kit.turn(work.who, verb, **given)
        assert (verb, caught.value.code) == (verb, "turn_ended")
    with pytest.raises(Refused) as caught:
        work.kit.sign("lease take", todo=work.todo)
    assert caught.value.code == "not_held"
    again = work.kit.begin(work.agent, todo=work.todo)
    assert (work.lease.epoch, work.lease.turn) == (2, again.turn)
    work.kit.finish(again)
    with pytest.raises(Refused) as caught:
        work.kit.sign("lease take", todo=work.todo)
    assert caught.value.code == "proving"


def test_a_lost_turn_frees_its_lease_and_the_next_take_gets_the_next_epoch(work: Work) -> None:
    work.kit.act("turn lose", turn=work.who.turn, reason="its process is gone")
    assert (work.turn.state, work.turn.result, work.lease.state, work.now.stalls) == ("lost", "interrupted", "free", 0)
    other = work.kit.agent("other")
    with pytest.raises(Refused):
        work.kit.act("turn end", turn=work.who.turn, result="failed")
    again = work.kit.begin(other, todo=work.todo)
    assert (work.lease.epoch, work.lease.turn, work.lease.actor) == (2, again.turn, other)
    with pytest.raises(Refused):
        work.kit.turn(work.who, "turn finish", turn=work.who.turn, outcome="done")


def test_a_lease_that_only_expired_is_free_for_the_next_take(kit: Kit) -> None:
    work = Work(kit)
    kit.act("turn lose", turn=work.who.turn, reason="gone", dirty=False)
    kit.tamper("update lease set state = 'held', expires = :now where id = :id", now=kit.clock.now(), id=work.todo)
    kit.begin(work.agent, todo=work.todo)
    assert (work.lease.epoch, work.lease.state) == (2, "held")


def test_a_held_lease_is_taken_by_nobody_else(work: Work) -> None:
    other = work.kit.agent("other")
    for given in ({"todo": work.todo}, {"goal": work.goal}):
        with pytest.raises(Refused) as caught:
            work.kit.begin(other, **given)
        assert caught.value.code == "held_by_other"
    work.kit.tamper("update turn set state = 'settled' where id = :id", id=work.who.turn)
    with pytest.raises(Refused) as caught:
        work.kit.begin(other, todo=work.todo)
    assert caught.value.code == "held_by_other"
    with work.kit.engine.read() as reader, pytest.raises(Refused) as taken:
        take_lease(Draft(reader, str), work.todo, work.goal, "u-9", other, None, work.kit.clock.now(), 0)
    assert taken.value.code == "held_by_other"
    assert work.kit.engine.verdict(work.goal, work.agent).reason == "own_lease"
    again = work.kit.begin(work.agent, goal=work.goal)
    assert (work.lease.epoch, work.lease.turn) == (2, again.turn)


def test_a_turn_of_an_agent_that_comes_by_itself_is_extended_up_to_four_times_its_wall(work: Work) -> None:
    begun = work.turn.begun_at
    assert (work.turn.deadline, work.lease.expires) == (begun + TURN_WALL_MS, begun + TURN_WALL_MS)
    for _ in range(9):
        work.kit.clock.advance(TURN_WALL_MS // 2)
        work.kit.turn(work.who, "turn extend", turn=work.who.turn)
    assert work.turn.deadline == work.lease.expires == begun + 4 * TURN_WALL_MS


def test_an_engines_turn_holds_a_short_lease_that_the_engine_renews(kit: Kit) -> None:
    agent = kit.agent("bot", runtime="command", argv=["agent"])
    goal = kit.goal()
    todo = kit.todo(goal)
    who = kit.begin(agent, goal=goal, attended=True)
    assert kit.get(Lease, todo).expires == kit.clock.now() + LEASE_MS
    assert kit.engine.ledger.renew(todo, 1, kit.clock.now() + 2 * LEASE_MS)
    with pytest.raises(Refused) as caught:
        kit.begin(agent, goal=goal)
    assert caught.value.code == "turn_open"
    session = kit.get(Session, str(kit.get(Turn, str(who.turn)).session))
    assert (session.runtime, session.last_turn) == ("command", who.turn)
    kit.act("turn end", turn=who.turn, result="progress", tree=TREE)
    again = kit.begin(agent, goal=goal)
    assert kit.get(Turn, str(again.turn)).session == session.id
    assert kit.get(Session, session.id).last_turn == again.turn


def test_a_begun_turn_is_begun_again_with_a_new_token_only_by_its_own_agent(work: Work) -> None:
    bot = Identity(kind="agent", actor=work.agent)
    first = work.kit.engine.run("turn begin", {"goal": work.goal}, bot)
    second = work.kit.engine.run("turn begin", {"todo": work.todo}, bot)
    assert first.answer == second.answer
    assert first.answer["turn"] == work.who.turn
    with pytest.raises(Refused):
        work.kit.engine.identify(first.reveal["token"])
    assert work.kit.engine.identify(second.reveal["token"]).turn == work.who.turn
    more = work.kit.todo(work.goal, "more")
    with pytest.raises(Refused) as caught:
        work.kit.engine.run("turn begin", {"goal": work.goal, "todo": more}, bot)
    assert caught.value.code == "turn_open"


def test_another_agents_turn_is_not_yours(work: Work) -> None:
    goal = work.kit.goal("Second", project="p-1")
    work.kit.todo(goal)
    other = work.kit.begin(work.kit.agent("other"), goal=goal)
    for verb, given in under_a_lease(work)[:6]:
        with pytest.raises(Refused) as caught:
            work.kit.turn(other, verb, **given)
        assert (verb, caught.value.code) == (verb, "not_your_turn")


# -- begin ----------------------------------------------------------------------------------------------------------------


def test_begin_takes_what_the_verdict_names(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    with pytest.raises(Refused) as refused:
        kit.begin(agent, goal=goal)
    assert refused.value.code == "not_due"
    first, second = kit.todo(goal), kit.todo(goal, "second")
    kit.say("todo order", todo=second, before=first)
    assert kit.engine.verdict(goal, agent).todo == second
    who = kit.begin(agent)
    assert kit.get(Turn, str(who.turn)).todo == second


def test_begin_names_the_goal_where_an_agent_has_none_or_several(kit: Kit) -> None:
    agent = kit.agent()
    with pytest.raises(UsageError, match="active goals: none"):
        kit.begin(agent)
    first, second = kit.goal(), kit.goal("Second", project="p-1")
    with pytest.raises(UsageError, match=f"{first}, {second}"):
        kit.begin(agent)
    todo = kit.todo(second)
    assert kit.begin(agent, todo=todo).goal == second


def test_begin_refuses_a_todo_of_another_goal(kit: Kit) -> None:
    agent = kit.agent()
    first, second = kit.goal(), kit.goal("Second", project="p-1")
    todo = kit.todo(second)
    kit.say("decision ask", goal=second, question="Really?", blocks=[todo])
    with pytest.raises(UsageError) as caught:
        kit.begin(agent, goal=first, todo=todo)
    assert caught.value.code == "other_goal"


def test_begin_is_refused_while_the_goal_cannot_run(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal(budget="turns=1")
    todo = kit.todo(goal)
    kit.act("limit set", actor=agent, until=kit.clock.now() + 1000, source="the provider")
    with pytest.raises(Refused) as limited:
        kit.begin(agent, todo=todo)
    assert limited.value.code == "limit_until"
    kit.act("limit set", actor=agent, until=0)
    kit.say("goal pause", goal=goal)
    with pytest.raises(Refused) as paused:
        kit.begin(agent, todo=todo)
    assert paused.value.code == "paused"
    kit.sign("goal resume", goal=goal)
    kit.done(agent, todo)
    more = kit.todo(goal, "more")
    for given in ({"todo": more}, {"goal": goal}):
        with pytest.raises(Refused) as spent:
            kit.begin(agent, **given)
        assert spent.value.code == "budget_spent"


def test_begin_waits_for_a_place(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.draft()
    kit.sign("goal resume", goal=goal)
    todo = kit.todo(goal)
    with pytest.raises(Refused) as caught:
        kit.begin(agent, todo=todo)
    assert caught.value.code == "place_not_ready"
    place = kit.place(goal)
    kit.engine.busy_places = lambda: (place,)
    with pytest.raises(Refused):
        kit.begin(agent, todo=todo)


def test_a_place_that_holds_a_todos_work_is_taken_for_that_todo(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal()
    first, second = kit.todo(goal), kit.todo(goal, "second")
    who = kit.begin(agent, todo=first)
    kit.turn(who, "lease release", turn=who.turn)
    assert kit.get(Place, "pl-1").holds == first
    with pytest.raises(Refused) as caught:
        kit.begin(agent, todo=second)
    assert caught.value.code == "place_held"
    spare = kit.place(goal)
    assert kit.get(Turn, str(kit.begin(agent, todo=first).turn)).place == "pl-1"
    other = kit.agent("other")
    assert kit.get(Turn, str(kit.begin(other, todo=second).turn)).place == spare


def test_a_todo_whose_time_has_come_is_taken(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    todo = kit.todo(goal, wait=f"at:{kit.clock.now() + 1000}")
    kit.clock.advance(1000)
    who = kit.begin(agent, goal=goal)
    assert (kit.get(Turn, str(who.turn)).todo, kit.get(Todo, todo).state) == (todo, "open")
    kit.finish(who)
    assert kit.settle(who)["result"] == "done"


def test_a_signed_correction_goes_before_other_work(kit: Kit) -> None:
    agent = kit.agent("bot", capability=["plan"])
    goal = kit.goal(criterion=(("it works", ()),))
    kit.sign("message send", goal=goal, text="use the other parser", correction=True)
    todo = kit.todo(goal, serves=[1])
    ruling = kit.engine.verdict(goal, agent)
    assert (ruling.kind, ruling.reason, ruling.todo) == ("answer", "correction", todo)
    assert kit.get(Turn, str(kit.begin(agent, goal=goal).turn)).todo == todo


def test_what_a_turn_used_is_counted_and_what_it_cannot_have_used_stays_unknown(work: Work) -> None:
    work.kit.act("turn start", turn=work.who.turn, pid=7, started="1/x", sandbox="bubblewrap", transcript="t.log")
    assert (work.turn.pid, work.turn.sandbox, work.turn.transcript) == (7, "bubblewrap", "t.log")
    work.kit.act("turn usage", turn=work.who.turn, input=100, output=20, cost=None)
    assert (work.turn.input_tokens, work.turn.output_tokens, work.turn.cost) == (100, 20, None)
    assert work.kit.engine.snapshot(work.goal, work.agent).spent_tokens == 120
    work.kit.act("turn usage", turn=work.who.turn, input=-100, output=-1, cost=-5)
    assert (work.turn.input_tokens, work.turn.output_tokens, work.turn.cost) == (None, None, None)
    work.prove()
    with pytest.raises(Refused) as caught:
        work.kit.act("turn start", turn=work.who.turn, pid=7, started="1/x", sandbox="none")
    assert caught.value.code == "turn_ended"


def test_evidence_an_agent_adds_proves_nothing_by_itself(work: Work) -> None:
    name = work.kit.turn(
        work.who, "evidence add", turn=work.who.turn, kind="file", ref="out/report.html", note="x" * 5000
    )
    evidence = work.kit.get(Evidence, name["evidence"])
    assert (evidence.outcome, evidence.verified_by, evidence.todo, len(evidence.tail)) == ("noted", "", work.todo, 4096)


def test_three_turns_without_progress_stall_a_todo_and_an_edit_frees_it(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    todo = kit.todo(goal)
    for stalls in (1, 2, 3):
        who = kit.begin(agent, todo=todo)
        kit.finish(who, "progress")
        kit.settle(who, tree="", tree_now="")
        assert kit.get(Todo, todo).stalls == stalls
    with pytest.raises(Refused) as caught:
        kit.begin(agent, todo=todo)
    assert caught.value.code == "stalled"
    kit.say("todo edit", todo=todo, body="try the other parser")
    assert kit.get(Todo, todo).stalls == 0
    who = kit.begin(agent, todo=todo)
    kit.finish(who, "progress")
    kit.settle(who, tree=TREE)
    assert kit.get(Todo, todo).stalls == 0


def test_a_decision_that_came_while_a_claim_was_proved_ends_the_turn_blocked(work: Work) -> None:
    work.kit.finish(work.who)
    decision = work.kit.say("decision ask", goal=work.goal, question="Stop?", blocks=[work.todo])["decision"]
    answer = work.settle()
    assert (answer["result"], answer["decision"], work.now.state) == ("blocked", decision, "open")


def test_a_blocked_todo_cannot_be_claimed(work: Work) -> None:
    decision = work.kit.say("decision ask", goal=work.goal, question="Stop?", blocks=[work.todo])["decision"]
    before = work.kit.seq()
    with pytest.raises(WaitsForPerson) as caught:
        work.kit.finish(work.who)
    assert (caught.value.code, caught.value.details, work.kit.seq()) == (
        "decision_open",
        {"decision": decision},
        before,
    )
