"""Undo: a receipt is put back as a new change where nothing else changed it since; nothing is deleted (MODEL.md 7)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import OWNER, TREE, Kit, kit

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.undo import Undo
from loopx_engine.errors import NotFound, Refused, StateMoved, UsageError
from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.model.todo import Todo

__all__ = ["kit"]


def said(kit: Kit, verb: str, **given: Any) -> str:
    """The receipt of an unsigned command."""
    return kit.engine.run(verb, given, OWNER).receipts[0].id


def signed(kit: Kit, verb: str, **given: Any) -> str:
    """The receipt of a signed command: the one of its goal's stream."""
    return kit.signed(verb, given).receipts[-1].id


def test_what_was_changed_gets_its_old_values_back(kit: Kit) -> None:
    goal = kit.goal()
    todo = kit.todo(goal, "Before", body="long")
    receipt = said(kit, "todo edit", todo=todo, title="After", body="short")
    assert kit.say("undo", receipt=receipt) == {"receipt": receipt, "put_back": [todo]}
    now = kit.get(Todo, todo)
    assert (now.title, now.body, now.signed) == ("Before", "long", True)


def test_what_changed_since_is_not_put_back(kit: Kit) -> None:
    goal = kit.goal()
    todo = kit.todo(goal, "Before")
    receipt = said(kit, "todo edit", todo=todo, title="After")
    kit.say("todo edit", todo=todo, title="Later")
    before = kit.seq()
    with pytest.raises(StateMoved) as caught:
        kit.say("undo", receipt=receipt)
    assert (caught.value.code, kit.seq()) == ("changed_since", before)
    assert "title" in caught.value.message


def test_a_receipt_is_taken_back_once(kit: Kit) -> None:
    todo = kit.todo(kit.goal(), "Before")
    receipt = said(kit, "todo edit", todo=todo, title="After")
    kit.say("undo", receipt=receipt)
    with pytest.raises(StateMoved):
        kit.say("undo", receipt=receipt)


def test_what_was_made_is_put_away_and_never_deleted(kit: Kit) -> None:
    goal = kit.goal()
    todo = kit.todo(goal)
    made = {
        signed(kit, "todo add", goal=goal, title="x", check=["make"]): (Todo, "t-2", "state", "dropped"),
        signed(kit, "criterion add", goal=goal, text="fast"): (Criterion, "c-1", "state", "waived"),
        signed(kit, "grant add", kind="push", pattern="*"): (Grant, "gr-1", "state", "revoked"),
        signed(kit, "actor add", name="third"): (Actor, "a-3", "state", "retired"),
        signed(kit, "goal add", title="y", project="p-1", check=["make"]): (Goal, "g-2", "phase", "archived"),
        signed(kit, "check set", subject=todo, argv=["make"]): (Check, "k-3", "state", "replaced"),
    }
    for receipt, (cls, name, field, state) in made.items():
        kit.sign("undo", receipt=receipt)
        assert (name, getattr(kit.get(cls, name), field)) == (name, state)
    assert kit.get(Check, "k-1").state == "replaced"
    assert kit.get(Todo, todo).check is None


def test_a_check_that_was_replaced_is_set_again(kit: Kit) -> None:
    goal = kit.goal()
    todo = kit.todo(goal, check=["make", "old"])
    old = str(kit.get(Todo, todo).check)
    first = signed(kit, "check set", subject=todo, argv=["make", "new"])
    second = signed(kit, "check set", subject=todo, argv=["make", "newer"])
    with pytest.raises(StateMoved):
        kit.sign("undo", receipt=first)
    kit.sign("undo", receipt=second)
    kit.sign("undo", receipt=first)
    assert (kit.get(Todo, todo).check, kit.get(Check, old).state) == (old, "set")


def test_stale_evidence_stays_stale_when_its_check_comes_back(kit: Kit) -> None:
    kit.goal(criterion=(("works", ("make",)),))
    evidence = kit.act("criterion prove", criterion="c-1", outcome="pass", tree=TREE)["evidence"]
    receipt = signed(kit, "check set", subject="c-1", argv=["make", "more"])
    kit.sign("undo", receipt=receipt)
    assert kit.get(Evidence, evidence).state == "stale"


def test_a_waived_criterion_is_open_again_and_never_met_by_an_undo(kit: Kit) -> None:
    kit.goal(criterion=(("works", ("make",)), ("nice", ())))
    kit.act("criterion prove", criterion="c-1", outcome="pass", tree=TREE)
    for criterion in ("c-1", "c-2"):
        receipt = signed(kit, "criterion waive", criterion=criterion, reason="later")
        kit.sign("undo", receipt=receipt)
        assert (kit.get(Criterion, criterion).state, kit.get(Criterion, criterion).reason) == ("open", "")
    receipt = signed(kit, "criterion meet", criterion="c-2", reason="seen")
    kit.sign("undo", receipt=receipt)
    assert kit.get(Criterion, "c-2").state == "open"


def test_a_revision_only_grows(kit: Kit) -> None:
    goal = kit.draft("Before")
    receipt = said(kit, "goal edit", goal=goal, title="After")
    kit.sign("undo", receipt=receipt)
    assert (kit.get(Goal, goal).title, kit.get(Goal, goal).revision) == ("Before", 3)


def test_a_drop_an_order_a_snooze_and_a_setup_are_taken_back(kit: Kit) -> None:
    goal = kit.goal()
    first, second = kit.todo(goal), kit.todo(goal, "second")
    dropped = said(kit, "todo drop", todo=first)
    ordered = said(kit, "todo order", todo=second, before=first)
    decision = kit.say("decision ask", goal=goal, question="Well?")["decision"]
    snoozed = said(kit, "decision snooze", decision=decision)
    kit.act("place settle", place="pl-1", state="broken", reason="no make")
    prepared = kit.signed("project setup", {"project": "p-1", "argv": [["make", "setup"]]}).receipts[0].id
    for receipt in (dropped, ordered, snoozed):
        kit.say("undo", receipt=receipt)
    kit.sign("undo", receipt=prepared)
    assert kit.get(Todo, first).state == "open"
    assert kit.get(Todo, first).rank < kit.get(Todo, second).rank
    assert kit.get(Decision, decision).snoozed_until is None
    assert kit.get(Project, "p-1").setup == ()


def test_a_place_that_was_broken_before_a_setup_is_not_broken_again_behind_its_back(kit: Kit) -> None:
    kit.goal()
    kit.act("place settle", place="pl-1", state="broken", reason="no make")
    receipt = signed(kit, "project setup", project="p-1", argv=[["make", "setup"]])
    assert kit.get(Place, "pl-1").state == "new"
    kit.sign("undo", receipt=receipt)
    assert kit.get(Place, "pl-1").state == "broken"


def test_what_a_signature_did_is_taken_back_by_a_signature(kit: Kit) -> None:
    goal = kit.draft()
    for receipt in (
        signed(kit, "grant add", kind="push", pattern="*"),
        signed(kit, "criterion add", goal=goal, text="fast"),
        said(kit, "goal edit", goal=goal, title="After"),
        said(kit, "todo add", goal=goal, title="x"),
        said(kit, "goal add", title="y", project="p-1"),
    ):
        before = kit.seq()
        with pytest.raises(Refused) as caught:
            kit.say("undo", receipt=receipt)
        assert (caught.value.code, kit.seq()) == ("not_signed", before)
        assert "signed" in kit.engine.preview("undo", {"receipt": receipt}, OWNER).authority
        kit.sign("undo", receipt=receipt)


def test_a_todo_that_was_taken_meanwhile_is_not_taken_away(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    receipt = signed(kit, "todo add", goal=goal, title="x")
    kit.begin(agent, goal=goal)
    with pytest.raises(Refused) as caught:
        kit.sign("undo", receipt=receipt)
    assert caught.value.code == "in_progress"


def test_what_cannot_be_taken_back_says_so(kit: Kit) -> None:
    goal = kit.goal()
    paused = said(kit, "goal pause", goal=goal)
    sent = said(kit, "message send", goal=goal, text="hello")
    for receipt in (paused, sent, "r-1"):
        with pytest.raises(Refused) as caught:
            kit.say("undo", receipt=receipt)
        assert caught.value.code == "no_undo"
    with pytest.raises(NotFound):
        kit.say("undo", receipt="r-9999")
    for receipt in ("t-1", "", "r-1/..", "r-01"):
        with pytest.raises(UsageError):
            kit.say("undo", receipt=receipt)


def test_an_undo_takes_back_what_its_receipt_says_whatever_the_caller_says(kit: Kit) -> None:
    goal = kit.goal()
    todo = kit.todo(goal, "Before")
    receipt = said(kit, "todo edit", todo=todo, title="After")
    forged = {"kind": "goal", "id": goal, "before": {"autonomy": "unattended"}, "after": {"autonomy": "normal"}}
    given = {"receipt": receipt, "verb": "todo edit", "changes": [forged]}
    kit.engine.run("undo", given, OWNER)
    assert (kit.get(Goal, goal).autonomy, kit.get(Todo, todo).title) == ("normal", "Before")
    granted = signed(kit, "grant add", kind="push", pattern="*")
    with pytest.raises(Refused):
        kit.engine.run("undo", {**given, "receipt": granted}, OWNER)


def test_a_receipt_whose_payload_was_removed_cannot_be_taken_back(kit: Kit) -> None:
    todo = kit.todo(kit.goal(), "Before")
    receipt = said(kit, "todo edit", todo=todo, title="After")
    kit.tamper("update payload set body = 'redacted' where seq = :seq", seq=kit.seq())
    with pytest.raises(Refused):
        kit.say("undo", receipt=receipt)


def test_a_receipt_of_another_kind_of_change_is_not_taken_back(kit: Kit) -> None:
    goal = kit.goal()
    changes: tuple[dict[str, object], ...] = (
        {"kind": "wake", "id": goal, "before": None, "after": {}},
        {"kind": "lease", "id": "t-1", "before": None, "after": {}},
    )
    removed: dict[str, object] = {"kind": "goal", "id": goal, "before": {"title": "x"}, "after": None}
    unknown: dict[str, object] = {"kind": "todo", "id": "t-99", "before": {"title": "x"}, "after": {"title": "y"}}
    with kit.engine.read() as reader:
        context = Context(who=OWNER, now=0, trusted=bool, token=lambda _: ("", ""))
        for taken in (changes, (removed,), (unknown,)):
            with pytest.raises(Refused) as caught:
                Undo(receipt="r-1", changes=taken).decide(Draft(reader, str), context)
            assert caught.value.code == "no_undo"
