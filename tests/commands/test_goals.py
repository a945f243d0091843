"""Goals: how one is made, changed, started, paused, stopped and ended, and what it may spend (MODEL.md 3, 4, 7)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import OWNER, Kit, kit

from loopx_engine.commands.budget import parse_budget
from loopx_engine.errors import NotFound, Refused, UsageError
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import BUDGET_DAYS, BUDGET_TURNS
from loopx_engine.model.goal import Goal
from loopx_engine.model.limits import CRITERIA_A_GOAL
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.model.wake import Wake

__all__ = ["kit"]

SPENDS = [
    ("turns=50", {"budget_turns": 50}),
    ("turns=5,days=7", {"budget_turns": 5, "budget_days": 7}),
    (" days=1 , tokens=2e6 ", {"budget_days": 1, "budget_tokens": 2_000_000}),
    ("cost=1.5", {"budget_cost": 1_500_000}),
    ("cost=0.000001", {"budget_cost": 1}),
]
NO_BUDGETS = [
    "", " ", ",", ",,", "0", "5", "unlimited", "turns", "turns=", "turns=0", "turns=-1", "turns=unlimited", "turns=infinity",
    "turns=nan", "turns=1.5", "turns=1e13", "turns=1e999999", "turns=1e-999999", "turns= ", "cost=0.0000001", "cost=-0",
    "hours=5", "TURNS=5", "turns=5;days=1", "turns=5,", "turns==5", "turns=0x10", "turns=5 days=1", "turns=\0", "=5",
    "days=\u221e",
]  # fmt: skip


# -- budgets --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "fields"), SPENDS)
def test_a_budget_is_written_in_units_with_numbers_above_0(text: str, fields: dict[str, int]) -> None:
    assert parse_budget(text) == fields


@pytest.mark.parametrize("text", NO_BUDGETS)
def test_nothing_0_negative_and_unlimited_are_never_read_as_a_budget(kit: Kit, text: str) -> None:
    if text == "turns=5,":
        assert parse_budget(text) == {"budget_turns": 5}
        return
    with pytest.raises(UsageError) as caught:
        parse_budget(text)
    assert caught.value.code == "bad_budget"
    goal = kit.draft()
    before = kit.seq()
    with pytest.raises(UsageError):
        kit.sign("goal edit", goal=goal, budget=text)
    assert kit.seq() == before


def test_a_goal_without_a_word_on_budgets_has_finite_ones(kit: Kit) -> None:
    goal = kit.get(Goal, kit.draft())
    assert (goal.budget_turns, goal.budget_days) == (BUDGET_TURNS, BUDGET_DAYS)
    kit.sign("goal edit", goal=goal.id, budget="turns=3,cost=2")
    goal = kit.get(Goal, goal.id)
    assert (goal.budget_turns, goal.budget_days, goal.budget_cost) == (3, BUDGET_DAYS, 2_000_000)


# -- made and changed -----------------------------------------------------------------------------------------------------


def test_a_goal_by_hand_is_a_draft_with_what_was_said(kit: Kit) -> None:
    kit.agent("bot")
    kit.agent("critic")
    goal = kit.get(
        Goal,
        kit.draft(
            "Repair", objective="all of it", criterion=[["works", ["make"]], ["nice", []]], check=["make", "all"],
            agent=["bot", "a-3"], reviewer=["critic"], autonomy="careful", place="clone", budget="turns=9", priority=0,
        ),
    )  # fmt: skip
    assert (goal.phase, goal.title, goal.agents, goal.reviewers) == ("draft", "Repair", ("a-3",), ("a-4",))
    assert (goal.autonomy, goal.place_kind, goal.budget_turns, goal.priority) == ("careful", "clone", 9, 0)
    assert kit.get(Check, str(goal.check)).argv == ("make", "all")
    assert [(item.number, item.text, bool(item.check)) for item in kit.all(Criterion)] == [
        (1, "works", True),
        (2, "nice", False),
    ]


def test_outside_git_a_goal_works_in_the_folder(kit: Kit) -> None:
    folder = kit.project("/folder", identity="")
    assert kit.get(Goal, kit.draft(project=folder)).place_kind == "directory"
    assert kit.get(Goal, kit.draft(project=folder, place="in-place")).place_kind == "in-place"


@pytest.mark.parametrize(
    ("given", "error", "code"),
    [
        ({"title": ""}, UsageError, "empty"),
        ({"title": " \t"}, UsageError, "empty"),
        ({"title": "x" * 201}, UsageError, "too_long"),
        ({"objective": "ä" * 513}, UsageError, "too_long"),
        ({"project": "p-9"}, NotFound, "not_found"),
        ({"project": "g-1"}, UsageError, "bad_id"),
        ({"project": "../p-1"}, UsageError, "bad_id"),
        ({"priority": 5}, UsageError, "bad_argument"),
        ({"priority": -1}, UsageError, "bad_argument"),
        ({"priority": True}, UsageError, "bad_argument"),
        ({"priority": 1.5}, UsageError, "bad_argument"),
        ({"agent": ["nobody"]}, NotFound, "not_found"),
        ({"agent": ["ana"]}, Refused, "not_an_agent"),
        ({"agent": "bot"}, UsageError, "bad_argument"),
        ({"autonomy": "wild"}, UsageError, "bad_choice"),
        ({"place": "/tmp"}, UsageError, "bad_choice"),
        ({"criterion": [["", []]]}, UsageError, "too_long"),
        ({"criterion": [["x" * 301, []]]}, UsageError, "too_long"),
        ({"criterion": ["works"]}, UsageError, "bad_argument"),
        ({"criterion": [["works"]]}, UsageError, "bad_argument"),
        ({"criterion": [["works", "make"]]}, UsageError, "bad_argument"),
        ({"criterion": [[5, []]]}, UsageError, "bad_argument"),
        ({"criterion": [["works", [5]]]}, UsageError, "bad_argument"),
        ({"criterion": [["works", ["make"] * 201]]}, UsageError, "too_many"),
        ({"criterion": [["works", []]] * (CRITERIA_A_GOAL + 1)}, UsageError, "too_many"),
        ({"check": [" "]}, UsageError, "empty"),
        ({"check": ["make", "a\0b"]}, UsageError, "bad_text"),
        ({"budget": "turns=0"}, UsageError, "bad_budget"),
        ({"colour": "red"}, UsageError, "unknown_argument"),
    ],
)  # fmt: skip
def test_what_makes_no_goal_is_a_clear_error_and_nothing_is_written(
    kit: Kit, given: dict[str, Any], error: type[Exception], code: str
) -> None:
    kit.agent("bot")
    project = kit.project()
    before = kit.seq()
    with pytest.raises(error) as caught:
        kit.sign("goal add", **{"title": "Fix it", "project": project, **given})
    assert (caught.value.code, kit.seq()) == (code, before)  # type: ignore[attr-defined]


def test_an_edit_changes_only_what_is_named(kit: Kit) -> None:
    kit.agent("bot")
    goal = kit.draft("Before", objective="long")
    kit.say("goal edit", goal=goal, title="After")
    kit.say("goal edit", goal=goal, priority=4)
    kit.sign("goal edit", goal=goal, agent=["bot"], reviewer=["bot"], autonomy="unattended", network=False)
    now = kit.get(Goal, goal)
    assert (now.title, now.objective, now.priority, now.revision) == ("After", "long", 4, 4)
    assert (now.agents, now.reviewers, now.autonomy, now.network) == (("a-3",), ("a-3",), "unattended", False)
    kit.sign("goal edit", goal=goal, agent=[])
    assert kit.get(Goal, goal).agents == ()
    for given in ({"title": " "}, {"priority": 9}, {"goal": "g-9"}):
        with pytest.raises((UsageError, NotFound)):
            kit.say("goal edit", **{"goal": goal, **given})


def test_unsigned_words_on_a_signed_goal_are_no_longer_the_owners(kit: Kit) -> None:
    goal = kit.goal()
    signed = kit.get(Goal, goal).plan
    assert signed
    kit.sign("goal edit", goal=goal, objective="better words")
    assert kit.get(Goal, goal).plan not in ("", signed)
    kit.say("goal edit", goal=goal, priority=1)
    assert kit.get(Goal, goal).plan
    kit.say("goal edit", goal=goal, title="slipped in")
    assert kit.get(Goal, goal).plan == ""


def test_resuming_accepts_the_todos_as_the_owners_own(kit: Kit) -> None:
    goal = kit.draft()
    kit.say("todo add", goal=goal, title="typed by somebody")
    kit.sign("todo add", goal=goal, title="signed")
    assert [item.signed for item in kit.all(Todo)] == [False, True]
    answer = kit.sign("goal resume", goal=goal)
    assert (answer["accepted_todos"], answer["plan"]) == (1, kit.get(Goal, goal).plan)
    assert all(item.signed for item in kit.all(Todo))
    kit.say("todo edit", todo="t-1", title="other words")
    assert not kit.get(Todo, "t-1").signed


def test_the_signed_plan_covers_what_a_goal_wants_may_do_and_may_spend(kit: Kit) -> None:
    kit.agent("bot")
    goal = kit.goal(criterion=(("works", ("make",)),), check=("make", "all"))
    todo = kit.todo(goal, check=["make", "one"])
    seen = {kit.sign("goal resume", goal=goal)["plan"]}
    for verb, given in (
        ("goal edit", {"goal": goal, "title": "Other"}),
        ("goal edit", {"goal": goal, "objective": "Other"}),
        ("goal edit", {"goal": goal, "autonomy": "unattended"}),
        ("goal edit", {"goal": goal, "network": False}),
        ("goal edit", {"goal": goal, "agent": ["bot"]}),
        ("goal edit", {"goal": goal, "reviewer": ["bot"]}),
        ("goal edit", {"goal": goal, "budget": "turns=7"}),
        ("check set", {"subject": goal, "argv": ["true"]}),
        ("check set", {"subject": "c-1", "argv": ["true"]}),
        ("check set", {"subject": todo, "argv": ["true"]}),
        ("criterion add", {"goal": goal, "text": "fast"}),
        ("criterion waive", {"criterion": "c-2"}),
        ("todo add", {"goal": goal, "title": "more"}),
        ("todo edit", {"todo": todo, "title": "other"}),
        ("todo edit", {"todo": todo, "body": "other"}),
        ("todo edit", {"todo": todo, "scope": ["src/**"]}),
        ("todo edit", {"todo": todo, "needs": ["t-2"]}),
    ):
        kit.sign(verb, **given)
        plan = kit.sign("goal resume", goal=goal)["plan"]
        assert (verb, given, plan in seen) == (verb, given, False)
        seen.add(plan)


# -- started, paused, stopped ---------------------------------------------------------------------------------------------


def test_a_pause_starts_nothing_new_and_everything_queued_dies_with_its_generation(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    todo = kit.todo(goal)
    who = kit.begin(agent, todo=todo)
    before = kit.get(Goal, goal)
    kit.say("goal pause", goal=goal)
    now = kit.get(Goal, goal)
    assert (now.phase, now.generation, now.stopped) == ("paused", before.generation + 1, False)
    assert kit.get(Wake, goal).generation == now.generation
    assert kit.get(Turn, str(who.turn)).generation == before.generation
    with pytest.raises(Refused) as caught:
        kit.say("goal pause", goal=goal)
    assert caught.value.code == "not_active"
    kit.finish(who)
    assert kit.settle(who)["result"] == "done"
    kit.sign("goal resume", goal=goal)
    assert kit.get(Goal, goal).active_since == before.active_since


def test_stop_pauses_raises_the_generation_and_names_the_turns(kit: Kit) -> None:
    agent = kit.agent()
    goal, other = kit.goal(), kit.goal("Other", project="p-1")
    who = kit.begin(agent, todo=kit.todo(goal))
    before = kit.get(Goal, goal).generation
    answer = kit.say("stop", goal=goal)
    assert answer == {"goals": [goal], "turns": [who.turn]}
    now = kit.get(Goal, goal)
    assert (now.phase, now.generation, now.stopped) == ("paused", before + 1, True)
    assert kit.get(Goal, other).phase == "active"
    kit.act("turn end", turn=who.turn, result="interrupted")
    assert kit.say("stop", goal=goal) == {"goals": [], "turns": []}
    kit.sign("goal resume", goal=goal)
    assert not kit.get(Goal, goal).stopped


def test_stop_all_also_ends_what_still_runs_in_a_paused_goal(kit: Kit) -> None:
    goals = [kit.goal(), kit.goal("Other", project="p-1"), kit.goal("Third", project="p-1")]
    turns = [kit.begin(kit.agent(f"bot{goal}"), todo=kit.todo(goal)).turn for goal in goals[:2]]
    kit.say("goal pause", goal=goals[0])
    generation = kit.get(Goal, goals[0]).generation
    answer = kit.engine.run("stop", {"all": True}, OWNER)
    assert answer.answer == {"goals": goals[1:], "turns": turns}
    assert sorted(receipt.stream for receipt in answer.receipts) == goals
    for goal in goals:
        assert (kit.get(Goal, goal).phase, kit.get(Goal, goal).stopped) == ("paused", True)
    assert kit.get(Goal, goals[0]).generation == generation + 1


def test_stop_names_one_goal_or_all(kit: Kit) -> None:
    goal = kit.goal()
    for given in ({}, {"goal": goal, "all": True}):
        with pytest.raises(UsageError):
            kit.say("stop", **given)
    kit.say("goal pause", goal=goal)
    answer = kit.engine.run("stop", {"all": True}, OWNER)
    assert (answer.answer, [item.stream for item in answer.receipts]) == ({"goals": [], "turns": []}, [""])


# -- ended ----------------------------------------------------------------------------------------------------------------


def refused(kit: Kit, verb: str, code: str, **given: Any) -> None:
    before = kit.seq()
    with pytest.raises(Refused) as caught:
        kit.sign(verb, **given)
    assert (verb, caught.value.code, kit.seq()) == (verb, code, before)


def test_a_goal_is_closed_when_its_criteria_are_met_and_nothing_is_open_or_runs(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal(criterion=(("works", ("make",)), ("nice", ())))
    todo = kit.todo(goal)
    refused(kit, "goal close", "criterion_open", goal=goal)
    kit.act("criterion prove", criterion="c-1", outcome="pass")
    kit.sign("criterion meet", criterion="c-2", reason="looked at it")
    refused(kit, "goal close", "todo_open", goal=goal)
    kit.done(agent, todo)
    watched = kit.sign("message send", goal=goal, text="wait", correction=True)["message"]
    kit.say("message consume", message=watched)
    asked = kit.say("decision ask", goal=goal, question="Merge?")["decision"]
    answer = kit.sign("goal close", goal=goal, note="well done")
    assert (answer["phase"], answer["criteria"]) == ("done", ["1 met", "2 met"])
    now = kit.get(Goal, goal)
    assert (now.phase, now.ended_at, now.note) == ("done", kit.clock.now(), "well done")
    assert (kit.get(Decision, asked).state, kit.get(Decision, asked).outcome) == ("withdrawn", "the goal was closed")


def test_a_goal_is_not_closed_while_a_turn_runs_or_after_its_end(kit: Kit) -> None:
    planner = kit.agent("planner", capability=["plan"])
    goal = kit.goal(criterion=(("nice", ()),))
    who = kit.begin(planner, goal=goal)
    kit.sign("criterion waive", criterion="c-1", reason="not needed")
    refused(kit, "goal close", "turn_open", goal=goal)
    kit.turn(who, "turn abandon", turn=who.turn)
    kit.sign("goal close", goal=goal)
    for verb in ("goal close", "goal resume"):
        refused(kit, verb, "goal_ended", goal=goal)
    with pytest.raises(Refused):
        kit.say("goal pause", goal=goal)


def test_a_draft_and_a_paused_goal_are_not_closed(kit: Kit) -> None:
    refused(kit, "goal close", "bad_move", goal=kit.draft())
    goal = kit.goal("Other", project="p-1")
    kit.say("goal pause", goal=goal)
    refused(kit, "goal close", "bad_move", goal=goal)


def test_a_finished_goal_takes_nothing_new_until_it_is_reopened(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    todo = kit.todo(goal)
    kit.done(agent, todo)
    kit.sign("goal close", goal=goal)
    revision = kit.get(Goal, goal).revision
    refused(kit, "todo add", "goal_ended", goal=goal, title="more")
    refused(kit, "criterion add", "goal_ended", goal=goal, text="more")
    refused(kit, "todo reopen", "goal_ended", todo=todo)
    refused(kit, "goal resume", "goal_ended", goal=goal)
    kit.sign("goal reopen", goal=goal)
    assert (kit.get(Goal, goal).phase, kit.get(Goal, goal).revision) == ("active", revision + 1)
    refused(kit, "goal reopen", "not_finished", goal=goal)
    kit.say("todo reopen", todo=todo)


def test_an_archived_goal_is_out_of_the_way_for_good(kit: Kit) -> None:
    goal = kit.goal()
    todo = kit.todo(goal)
    asked = kit.say("decision ask", goal=goal, question="Which?", blocks=[todo])["decision"]
    refused(kit, "goal archive", "goal_active", goal=goal)
    kit.say("goal pause", goal=goal)
    kit.sign("goal archive", goal=goal)
    assert (kit.get(Goal, goal).phase, kit.get(Decision, asked).state) == ("archived", "withdrawn")
    with pytest.raises(Refused) as anew:
        kit.act("decision expire", decision=asked)
    assert anew.value.code == "not_open"
    refused(kit, "goal edit", "goal_ended", goal=goal, title="again")
    refused(kit, "goal resume", "goal_ended", goal=goal)
    refused(kit, "goal archive", "goal_ended", goal=goal)


# -- criteria -------------------------------------------------------------------------------------------------------------


def test_a_criterion_without_a_check_is_met_by_a_person_and_one_with_a_check_by_the_engine(kit: Kit) -> None:
    goal = kit.goal(criterion=(("works", ("make",)), ("nice", ())))
    refused(kit, "criterion meet", "has_check", criterion="c-1")
    kit.sign("criterion meet", criterion="c-2", reason="I looked")
    assert (kit.get(Criterion, "c-2").state, kit.get(Criterion, "c-2").reason) == ("met", "I looked")
    kit.sign("criterion waive", criterion="c-1", reason="later")
    assert kit.get(Criterion, "c-1").state == "waived"
    with pytest.raises(Refused):
        kit.act("criterion prove", criterion="c-1", outcome="pass")
    added = kit.sign("criterion add", goal=goal, text="fast", check=["make", "bench"])
    assert (added["number"], kit.get(Goal, goal).revision) == (3, 2)


def test_a_goal_has_at_most_twelve_criteria(kit: Kit) -> None:
    goal = kit.draft(criterion=[[f"number {n}", []] for n in range(CRITERIA_A_GOAL)])
    refused(kit, "criterion add", "too_many_criteria", goal=goal, text="one more")


def test_a_goal_that_is_active_is_looked_at_again_after_every_change_that_matters(kit: Kit) -> None:
    goal = kit.goal()
    kit.act(
        "wake set", goal=goal, due=kit.clock.now() + 1000, pace="idle", cause="nothing to do", verdict="v", repeats=3
    )
    assert (kit.get(Wake, goal).pace, kit.get(Wake, goal).repeats) == ("idle", 3)
    seen = kit.seq()
    kit.todo(goal)
    wake = kit.get(Wake, goal)
    assert (wake.due, wake.pace, wake.cause, wake.repeats) == (kit.clock.now(), "work", "todo add", 0)
    later = kit.clock.now() + 5000
    assert kit.act("wake set", goal=goal, due=later, pace="idle", seen=seen)["due"] == kit.clock.now()
    assert kit.act("wake set", goal=goal, due=later, pace="idle", seen=kit.seq())["due"] == later
    draft = kit.draft("Other", project="p-1")
    kit.todo(draft)
    assert [wake.id for wake in kit.all(Wake)] == [goal]
