"""Todos: added, changed, ordered, split, dropped and taken up again, each without disturbing what it does not name."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import TREE, Kit, kit

from loopx_engine.errors import LoopxError, NotFound, Refused, UsageError
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.todo import Todo

__all__ = ["kit"]


def order(kit: Kit, goal: str) -> list[str]:
    """The goal's todos in their order."""
    return [item.id for item in sorted(kit.all(Todo), key=lambda item: item.rank) if item.goal == goal]


def test_a_todo_is_added_last_with_what_was_said(kit: Kit) -> None:
    goal = kit.goal(criterion=(("works", ()),))
    first = kit.todo(goal)
    todo = kit.get(
        Todo,
        kit.todo(goal, "Write more", body="in small steps", serves=[1], needs=[first], scope=["src/**"], check=["make", "test"],
                 capability=["browser"], kind="work"),
    )  # fmt: skip
    assert (todo.title, todo.body, todo.serves, todo.needs, todo.scopes) == (
        "Write more", "in small steps", (1,), (first,), ("src/**",),
    )  # fmt: skip
    assert (todo.state, todo.signed, todo.added_by, todo.capabilities) == ("open", True, "a-1", ("browser",))
    check = kit.get(Check, str(todo.check))
    assert (check.argv, check.set_by, check.baseline, check.role) == (("make", "test"), "a-1", "unknown", "goal")
    assert order(kit, goal) == [first, todo.id]
    assert not kit.get(Todo, str(kit.say("todo add", goal=goal, title="typed")["todo"])).signed


@pytest.mark.parametrize(
    ("given", "error", "code"),
    [
        ({"title": ""}, UsageError, "empty"),
        ({"title": "x" * 201}, UsageError, "too_long"),
        ({"body": "ä" * 8193}, UsageError, "too_long"),
        ({"goal": "g-99"}, NotFound, "not_found"),
        ({"goal": "t-1"}, UsageError, "bad_id"),
        ({"goal": "g-1/../g-2"}, UsageError, "bad_id"),
        ({"goal": "g-0"}, UsageError, "bad_id"),
        ({"goal": "g-" + "1" * 40}, UsageError, "bad_id"),
        ({"goal": None}, UsageError, "bad_argument"),
        ({"serves": [2]}, UsageError, "no_criterion"),
        ({"serves": ["1"]}, UsageError, "bad_argument"),
        ({"serves": [True]}, UsageError, "bad_argument"),
        ({"serves": list(range(51))}, UsageError, "too_many"),
        ({"needs": ["t-99"]}, NotFound, "not_found"),
        ({"needs": ["d-1"]}, UsageError, "bad_id"),
        ({"needs": ["t-1"] * 51}, UsageError, "too_many"),
        ({"wait": "soon"}, UsageError, "bad_condition"),
        ({"wait": "done:"}, UsageError, "bad_condition"),
        ({"wait": "done:../x"}, UsageError, "bad_id"),
        ({"kind": "chore"}, UsageError, "bad_choice"),
        ({"check": ["", "x"]}, UsageError, "empty"),
    ],
)
def test_what_makes_no_todo_is_a_clear_error_and_nothing_is_written(
    kit: Kit, given: dict[str, Any], error: type[LoopxError], code: str
) -> None:
    goal = kit.goal(criterion=(("works", ()),))
    kit.todo(goal)
    before = kit.seq()
    with pytest.raises(error) as caught:
        kit.sign("todo add", **{"goal": goal, "title": "Write it", **given})
    assert (caught.value.code, kit.seq()) == (code, before)


def test_needs_stay_in_the_goal_and_never_go_round(kit: Kit) -> None:
    goal, other = kit.goal(), kit.goal("Other", project="p-1")
    far = kit.todo(other)
    first, second, third = (kit.todo(goal, f"number {n}") for n in (1, 2, 3))
    kit.say("todo edit", todo=second, needs=[first])
    kit.say("todo edit", todo=third, needs=[second, first])
    for needs, code in (([third], "needs_cycle"), ([first], "needs_cycle"), ([far], "other_goal")):
        with pytest.raises(UsageError) as caught:
            kit.say("todo edit", todo=first, needs=needs)
        assert caught.value.code == code
    kit.say("todo edit", todo=third, needs=[])
    kit.say("todo edit", todo=first, needs=[third])


def test_an_edit_changes_only_what_is_named(kit: Kit) -> None:
    goal = kit.goal(criterion=(("works", ()),))
    agent = kit.agent()
    todo = kit.todo(goal, "Before", body="long", scope=["src/**"])
    kit.say("todo edit", todo=todo, title="After")
    kit.say("todo edit", todo=todo, serves=[1], exclude=["bot"], body="")
    now = kit.get(Todo, todo)
    assert (now.title, now.body, now.scopes, now.serves, now.excluded) == ("After", "", ("src/**",), (1,), (agent,))
    kit.say("todo edit", todo=todo, scope=[], exclude=[])
    assert (kit.get(Todo, todo).scopes, kit.get(Todo, todo).excluded) == ((), ())
    for given, error in (({"title": "\n"}, UsageError), ({"serves": [7]}, UsageError), ({"exclude": ["eve"]}, NotFound),
                         ({"wait": "never"}, UsageError)):  # fmt: skip
        with pytest.raises(error):
            kit.say("todo edit", todo=todo, **given)


def test_a_todo_waits_for_its_condition(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    todo = kit.todo(goal, wait=f"at:{kit.clock.now() + 1000}")
    assert kit.get(Todo, todo).state == "waiting"
    with pytest.raises(Refused) as caught:
        kit.begin(agent, todo=todo)
    assert caught.value.code == "condition_open"
    assert kit.act("todo ready", todo=todo)["condition"].startswith("at:")
    with pytest.raises(Refused) as twice:
        kit.act("todo ready", todo=todo)
    assert twice.value.code == "not_waiting"
    kit.say("todo edit", todo=todo, wait="file:out/*.txt")
    assert kit.get(Todo, todo).state == "waiting"
    kit.say("todo edit", todo=todo, wait="")
    assert (kit.get(Todo, todo).state, kit.get(Todo, todo).wait) == ("open", None)


def test_a_condition_does_not_open_what_was_dropped_meanwhile(kit: Kit) -> None:
    goal = kit.goal()
    todo = kit.todo(goal, wait="file:*")
    kit.say("todo drop", todo=todo)
    with pytest.raises(Refused):
        kit.act("todo ready", todo=todo)
    assert kit.get(Todo, todo).state == "dropped"


@pytest.mark.parametrize("wait", ["done:{dropped}", "done:t-99", "decided:d-99", "decided:{withdrawn}", "changed:w-99"])
def test_a_condition_that_can_no_longer_come_true_calls_for_a_new_plan(kit: Kit, wait: str) -> None:
    goal = kit.goal()
    agent = kit.agent("bot", capability=["plan"])
    dropped = kit.todo(goal)
    withdrawn = kit.say("decision ask", goal=goal, question="Well?")["decision"]
    kit.todo(goal, "waits", wait=wait.format(dropped=dropped, withdrawn=withdrawn))
    kit.say("todo drop", todo=dropped)
    kit.say("decision withdraw", decision=withdrawn)
    assert (kit.engine.verdict(goal, agent).kind, kit.engine.verdict(goal, agent).reason) == (
        "replan",
        "condition_dead",
    )


def test_a_condition_that_may_still_come_true_is_waited_for(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    first = kit.todo(goal, capability=["browser"])
    decision = kit.say("decision ask", goal=goal, question="Well?")["decision"]
    for wait in (f"done:{first}", f"decided:{decision}", "file:*"):
        kit.todo(goal, wait=wait)
    assert kit.engine.snapshot(goal, agent).dead_conditions == ()


def test_a_todo_moves_before_another_and_last(kit: Kit) -> None:
    goal = kit.goal()
    todos = [kit.todo(goal, f"number {n}") for n in range(4)]
    kit.say("todo order", todo=todos[3], before=todos[0])
    assert order(kit, goal) == [todos[3], todos[0], todos[1], todos[2]]
    kit.say("todo order", todo=todos[3])
    assert order(kit, goal) == todos
    for _ in range(25):
        kit.say("todo order", todo=todos[3], before=todos[1])
        kit.say("todo order", todo=todos[2], before=todos[1])
        assert order(kit, goal) == [todos[0], todos[3], todos[2], todos[1]]
        kit.say("todo order", todo=todos[2], before=todos[3])
        kit.say("todo order", todo=todos[3], before=todos[2])
        assert order(kit, goal) == [todos[0], todos[3], todos[2], todos[1]]
    for _ in range(30):
        for moved in (todos[1], todos[2]):
            kit.say("todo order", todo=moved, before=todos[3])
        kit.say("todo order", todo=todos[1], before=todos[3])
        assert order(kit, goal) == [todos[0], todos[2], todos[1], todos[3]]
    ranks = [item.rank for item in kit.all(Todo)]
    assert len(set(ranks)) == len(ranks)
    far = kit.todo(kit.goal("Other", project="p-1"))
    with pytest.raises(Refused) as caught:
        kit.say("todo order", todo=todos[0], before=far)
    assert caught.value.code == "other_goal"


def test_a_todo_is_split_and_what_needed_it_needs_its_parts(kit: Kit) -> None:
    goal = kit.goal(criterion=(("works", ()),))
    todo = kit.todo(goal, body="long", serves=[1], check=["make"])
    before = kit.todo(goal, "before")
    after = kit.todo(goal, "after", needs=[before, todo])
    parts = kit.say("todo split", todo=todo, into=["one", "two"])["parts"]
    old, made = kit.get(Todo, todo), [kit.get(Todo, name) for name in parts]
    assert (old.state, old.no_successor) == ("dropped", "split")
    assert [item.title for item in made] == ["one", "two"]
    assert {(item.successor_of, item.serves, item.body, item.check, item.signed) for item in made} == {
        (todo, (1,), "long", old.check, False)
    }
    assert kit.get(Todo, after).needs == (before, *parts)
    for into in ([], ["one"], ["one", " "]):
        with pytest.raises(UsageError):
            kit.say("todo split", todo=before, into=into)
    kit.sign("check set", subject=parts[0], argv=["make", "one"])
    assert kit.get(Check, str(old.check)).state == "set"


def test_what_is_in_progress_is_neither_split_nor_dropped_nor_put_to_wait(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    todo = kit.todo(goal)
    who = kit.begin(agent, todo=todo)
    changes: tuple[tuple[str, dict[str, Any]], ...] = (
        ("todo split", {"into": ["a", "b"]}),
        ("todo drop", {}),
        ("todo edit", {"wait": "file:*"}),
    )
    for claimed in (False, True):
        for verb, given in changes:
            with pytest.raises(Refused) as caught:
                kit.say(verb, todo=todo, **given)
            assert (verb, caught.value.code) == (verb, "in_progress")
        if not claimed:
            kit.finish(who)
    kit.settle(who)
    for verb, given in changes:
        with pytest.raises(Refused) as done:
            kit.say(verb, todo=todo, **given)
        assert (verb, done.value.code) == (verb, "finished")


def test_a_dropped_need_is_a_reason_to_plan_again(kit: Kit) -> None:
    goal = kit.goal()
    agent = kit.agent("bot", capability=["plan"])
    todo = kit.todo(goal)
    kit.todo(goal, "after", needs=[todo])
    kit.say("todo drop", todo=todo, reason="not wanted")
    assert kit.get(Todo, todo).no_successor == "not wanted"
    assert kit.engine.verdict(goal, agent).reason == "need_dropped"


def test_a_todo_that_is_reopened_keeps_its_evidence_as_stale(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal(criterion=(("works", ("make",)), ("fast", ("make",)), ("nice", ("make",))))
    todo = kit.todo(goal, serves=[1, 2], check=["make", "test"])
    with pytest.raises(Refused) as caught:
        kit.say("todo reopen", todo=todo)
    assert caught.value.code == "not_finished"
    kit.done(agent, todo, check=str(kit.get(Todo, todo).check), outcome="pass")
    for criterion in ("c-1", "c-3"):
        kit.act("criterion prove", criterion=criterion, outcome="pass", tree=TREE)
    kit.say("todo reopen", todo=todo)
    now = kit.get(Todo, todo)
    assert (now.state, now.proof, now.ended_at) == ("open", "", None)
    evidence = kit.get(Evidence, str(now.evidence))
    assert (evidence.state, evidence.stale_reason) == ("stale", "its todo was reopened")
    assert [item.state for item in kit.all(Criterion)] == ["stale", "open", "met"]
    kit.say("todo drop", todo=todo)
    kit.say("todo reopen", todo=todo)
    assert kit.get(Goal, goal).phase == "active"


# -- checks ---------------------------------------------------------------------------------------------------------------


def test_a_check_is_set_for_a_todo_a_criterion_or_a_goal_and_nothing_else(kit: Kit) -> None:
    goal = kit.goal(criterion=(("works", ()),))
    todo = kit.todo(goal)
    for subject in (goal, "c-1", todo):
        made = kit.sign("check set", subject=subject, argv=["make", "x"], timeout=5, input=["src/**"], network=True)
        check = kit.get(Check, made["check"])
        assert (check.goal, check.argv, check.timeout, check.inputs, check.network) == (
            goal, ("make", "x"), 5, ("src/**",), True,
        )  # fmt: skip
    for given, error in (
        ({"subject": "d-1"}, UsageError),
        ({"subject": "no id"}, UsageError),
        ({"subject": "t-99"}, NotFound),
        ({"timeout": 0}, UsageError),
        ({"timeout": -1}, UsageError),
        ({"timeout": 2**52}, UsageError),
        ({"timeout": 2**60}, UsageError),
        ({"argv": []}, UsageError),
        ({"argv": "make test"}, UsageError),
    ):
        with pytest.raises(error):
            kit.sign("check set", **{"subject": todo, "argv": ["make"], **given})


def test_a_new_check_replaces_the_old_one_and_what_that_one_proved_is_stale(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    todo = kit.todo(goal, check=["make", "test"])
    old = str(kit.get(Todo, todo).check)
    kit.done(agent, todo, check=old, outcome="pass")
    kit.sign("check set", subject=todo, argv=["make", "more"])
    assert kit.get(Check, old).state == "replaced"
    evidence = kit.get(Evidence, str(kit.get(Todo, todo).evidence))
    assert (evidence.state, evidence.stale_reason) == ("stale", "its check changed")
    kit.sign("check set", subject=todo, argv=["make", "most"])


@pytest.mark.parametrize(("baseline", "role"), [("red", "goal"), ("green", "guard"), ("cannot run", "goal")])
def test_what_a_check_says_on_the_base_commit_makes_it_a_goal_or_a_guard(kit: Kit, baseline: str, role: str) -> None:
    goal = kit.goal()
    check = kit.sign("check set", subject=goal, argv=["make"])["check"]
    kit.act("check baseline", check=check, baseline=baseline, tail="the end")
    now = kit.get(Check, check)
    assert (now.baseline, now.role, now.baseline_tail) == (baseline, role, "the end")
    kit.act("place settle", place="pl-1", state="broken")
    kit.say("place retry", place="pl-1")
    assert kit.get(Check, check).baseline == ("unknown" if baseline == "cannot run" else baseline)
