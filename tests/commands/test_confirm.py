"""A person's verified word settles a claim no reviewer can look at, and nothing else does."""

from __future__ import annotations

import pytest
from engine_kit import OTHER_TREE, TREE, Kit, kit  # noqa: F401

from loopx_engine.commands.confirm import cause_of
from loopx_engine.errors import Refused
from loopx_engine.model.decision import Decision
from loopx_engine.model.todo import Todo


def claimed(kit: Kit) -> tuple[str, str, str]:
    """(goal, todo, decision): a claim whose tests were changed by its executor, and the engine's question."""
    agent = kit.agent()
    goal = kit.goal()
    todo = kit.todo(goal, check=["make", "test"])
    check = kit.get(Todo, todo).check
    kit.done(agent, todo, check=check, outcome="pass", exit=0, changed=["tests/test_a.py"], dirty=True)
    assert kit.get(Todo, todo).review == "due"
    asked = kit.act("decision ask", goal=goal, question="does it count?", cause=cause_of(kit.get(Todo, todo)))
    return goal, todo, str(asked["decision"])


def answer(kit: Kit, decision: str, option: str) -> None:
    kit.sign("decision answer", decision=decision, option=option, basis=kit.get(Decision, decision).basis)


def test_yes_makes_it_done_confirmed_and_committed(kit: Kit) -> None:
    _, todo, decision = claimed(kit)
    answer(kit, decision, "yes")
    said = kit.act("review settle", todo=todo, decision=decision, tree=TREE, changed=True)
    assert kit.get(Todo, todo).proof == "confirmed"
    assert said["commit"]


def test_no_sends_it_back(kit: Kit) -> None:
    _, todo, decision = claimed(kit)
    answer(kit, decision, "no")
    kit.act("review settle", todo=todo, decision=decision, tree=TREE)
    found = kit.get(Todo, todo)
    assert (found.state, found.review, found.failures) == ("open", "fail", 1)


def test_a_tree_that_moved_since_is_proved_again(kit: Kit) -> None:
    _, todo, decision = claimed(kit)
    answer(kit, decision, "yes")
    kit.act("review settle", todo=todo, decision=decision, tree=OTHER_TREE)
    found = kit.get(Todo, todo)
    assert (found.state, found.review, found.proof) == ("open", "", "")


def test_an_open_question_or_another_one_settles_nothing(kit: Kit) -> None:
    goal, todo, decision = claimed(kit)
    other = str(kit.say("decision ask", goal=goal, question="something else?")["decision"])
    answer(kit, other, "yes")
    for wrong in (decision, other):
        with pytest.raises(Refused) as caught:
            kit.act("review settle", todo=todo, decision=wrong, tree=TREE)
        assert caught.value.code == "not_answered"


def test_what_waits_for_no_review_is_left_alone(kit: Kit) -> None:
    goal, _, decision = claimed(kit)
    fresh = kit.todo(goal, "Another")
    with pytest.raises(Refused) as caught:
        kit.act("review settle", todo=fresh, decision=decision, tree=TREE)
    assert caught.value.code == "no_review_due"
