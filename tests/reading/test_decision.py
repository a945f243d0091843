"""`decision`: who, why, what exactly, what a no means, the proof with its receipts, and what could be remembered."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import OTHER_TREE, TREE, Kit, kit  # noqa: F401
from reading.scene import BAD_TEXT, PUSH, poison, read

from loopx_engine.errors import LedgerUnusable, NotFound, Refused, UsageError
from loopx_engine.model.defaults import DAY
from loopx_engine.model.identity import Identity

KEYS = {
    "item", "goal", "names", "asked_by_name", "waiting", "blocks", "because", "acts", "if_no", "undo", "leaves", "proof",
    "remember", "signature", "asked",
}  # fmt: skip
PASSED: dict[str, Any] = {"outcome": "pass", "check": "k-1", "count": 341, "sandbox": "bwrap"}


def shown(kit: Kit, name: str = "d-1") -> dict[str, Any]:
    found = read(kit, "decision", id=name)
    assert set(found) == KEYS
    return found


def asked(kit: Kit, **given: Any) -> dict[str, Any]:
    """What is shown of a question of ada's, who works on t-1 of g-1."""
    goal = kit.goal("Shop")
    kit.todo(goal, "Rank by recency", check=["pytest", "-q"])
    kit.turn(kit.begin(kit.agent("ada")), "decision ask", goal=goal, question="Which?", **given)
    return shown(kit)


def test_a_choice_of_a_running_turn(kit: Kit) -> None:
    found = asked(kit, option=["a", "b"], blocks=["t-1"])
    assert found["item"]["options"] == [["1", "a"], ["2", "b"]]
    assert found["goal"] == {"id": "g-1", "title": "Shop", "phase": "active"}
    assert (found["asked_by_name"], found["names"], found["waiting"], found["asked"]) == (
        "ada",
        {"a-3": "ada"},
        True,
        1,
    )
    assert found["blocks"] == [{"id": "t-1", "title": "Rank by recency"}]
    assert found["because"] == "“Rank by recency” needs it"
    assert (found["acts"], found["leaves"], found["signature"], found["proof"]) == ([], False, None, [])
    assert found["if_no"] == "none of the answers is taken; ada is told why and goes on"
    assert found["undo"]["can"] is True
    assert found["remember"]["offered"] is False
    assert found["remember"]["why_not"] == "only an answer about an act can be remembered"


def test_the_askers_why_is_why(kit: Kit) -> None:
    assert asked(kit, why="two ways lead there", blocks=["t-1"])["because"] == "two ways lead there"


def test_a_plain_question_has_a_plain_no(kit: Kit) -> None:
    goal = kit.draft()
    kit.say("decision ask", goal=goal, question="Keep it?")
    found = shown(kit)
    assert found["if_no"] == "the answer is no; the goal goes on without it"
    assert found["because"] == ""
    assert found["waiting"] is False


def test_a_no_to_what_blocks_a_todo_gives_the_todo_back(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal, "Rank")
    kit.say("decision ask", goal=goal, question="Keep it?", blocks=["t-1"])
    assert shown(kit)["if_no"] == "the answer is no; “Rank” is taken up again without it"


def test_it_waits_no_more_once_its_turn_has_ended(kit: Kit) -> None:
    assert asked(kit)["waiting"] is True
    kit.turn(Identity(kind="agent", actor="a-3", goal="g-1", turn="u-1"), "turn abandon", turn="u-1")
    assert shown(kit)["waiting"] is False


def test_an_act_is_shown_exactly_with_the_rule_that_asks(kit: Kit) -> None:
    found = asked(kit, effect=PUSH, blocks=["t-1"])
    assert found["acts"] == [f"git push origin {'a' * 10}:main"]
    assert found["because"] == "“Rank by recency” needs it · normal asks before a push"
    assert found["leaves"] is True
    assert found["undo"] == {"can": False, "text": "not by us: a remote has it"}
    assert found["if_no"] == "it is not done; ada is told why and goes on"
    assert found["remember"] == {
        "offered": True, "why_not": "", "kind": "push", "pattern": "origin/main", "risk": "high", "until_ms": DAY, "uses": 20,
    }  # fmt: skip


def test_a_grant_that_asks_is_named(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal)
    kit.sign("grant add", kind="push", pattern="origin/*", effect="ask", goal=goal)
    kit.turn(kit.begin(kit.agent()), "decision ask", goal=goal, question="push?", effect=PUSH)
    assert shown(kit)["because"] == "gr-1 says ask for push origin/*"
    poison(kit, "grant", "gr-1", "effect", "'maybe'")
    assert shown(kit)["because"] == "gr-1 says ask"


def test_a_push_of_less_risk_is_remembered_with_less(kit: Kit) -> None:
    found = asked(kit, effect={**PUSH, "ref": "loopx/g-1"})
    assert found["item"]["risk"] == "medium"
    assert (found["remember"]["risk"], found["remember"]["pattern"]) == ("medium", "origin/loopx/g-1")


def test_an_act_that_is_none_of_ours_is_shown_and_not_remembered(kit: Kit) -> None:
    asked(kit, effect=PUSH)
    poison(kit, "decision", "d-1", "effect", """'{"action":"fly","to":["the","moon"]}'""")
    found = shown(kit)
    assert found["acts"] == ['{"action": "fly", "to": ["the", "moon"]}']
    assert found["leaves"] is True
    assert found["undo"] == {"can": False, "text": "not by us"}
    assert found["because"] == "normal asks before this act"
    assert "'fly' is no act" in found["remember"]["why_not"]


def test_an_answer_is_shown_with_what_its_signature_is_worth(kit: Kit) -> None:
    found = asked(kit, effect=PUSH)
    basis = found["item"]["basis"]
    kit.sign("decision answer", decision="d-1", option="no", basis=basis, goal="g-1", reason="not yet")
    found = shown(kit)
    assert found["signature"] == "verified"
    assert found["remember"]["why_not"] == "it is carried out"
    kit.tamper("update decision set answer = 'yes'")
    assert shown(kit)["signature"] == "void: its option is not what was signed"


def test_a_question_asked_again_says_how_often(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal)
    kit.say("decision ask", goal=goal, question="Which?", blocks=["t-1"])
    kit.clock.advance(8 * DAY)
    kit.act("decision expire", decision="d-1")
    assert shown(kit, "d-2")["asked"] == 2


# -- proof ----------------------------------------------------------------------------------------------------------------


def test_the_proof_of_what_it_blocks_has_its_receipt_and_box(kit: Kit) -> None:
    asked(kit)
    kit.finish(Identity(kind="agent", actor="a-3", goal="g-1", turn="u-1"))
    kit.settle(Identity(kind="agent", actor="a-3", goal="g-1", turn="u-1"), **PASSED)
    receipt = kit.engine.ledger.last_receipts(subject="e-1", limit=1)[0].id
    kit.say("decision ask", goal="g-1", question="And?", blocks=["t-1"])
    assert shown(kit, "d-2")["proof"] == [
        {
            "mark": "good", "text": "pytest -q passed, 341 tests", "evidence": "e-1", "receipt": receipt,
            "at": kit.clock.now(), "fresh": True, "sandbox": "bwrap",
        }
    ]  # fmt: skip
    assert shown(kit, "d-1")["proof"] == [], "a choice that blocks nothing is about no proof"


def test_a_failed_run_is_bad_and_an_old_one_is_faint(kit: Kit) -> None:
    goal = kit.goal(criterion=[["runs", ["pytest", "a b"]], ["is fast", ["bench"]]])
    kit.act("criterion prove", criterion="c-1", outcome="fail", exit=3, tail="no", count=1, tree=TREE)
    kit.clock.advance(1)
    kit.act("criterion prove", criterion="c-2", outcome="cannot run", tree=TREE)
    commands = [{"verb": "goal edit", "arguments": {"goal": goal, "budget": "turns=200"}}]
    kit.act("decision propose", goal=goal, question="More?", commands=commands)
    first, second = shown(kit)["proof"]
    assert (first["text"], first["mark"]) == ("bench cannot run", "bad")
    assert (second["text"], second["mark"], second["fresh"]) == ("pytest 'a b' failed, 1 test, exit 3", "bad", True)
    kit.act("criterion prove", criterion="c-1", outcome="pass", tree=OTHER_TREE)
    assert [item["text"] for item in shown(kit)["proof"]] == ["pytest 'a b' passed", "bench cannot run"], (
        "the newest of each"
    )
    kit.sign("check set", subject="c-1", argv=["other"])
    stale = shown(kit)["proof"][0]
    assert (stale["mark"], stale["fresh"]) == ("faint", False)


def test_a_review_is_proof_and_names_the_reviewer(kit: Kit) -> None:
    kit.agent("ada")
    kit.agent("rev")
    goal = kit.goal(agent=["ada"], reviewer=["rev"])
    kit.done("a-3", kit.todo(goal, check=["true"]), **PASSED)
    who = kit.begin("a-4", goal=goal, todo="t-1")
    kit.turn(who, "turn finish", turn=who.turn, outcome="done", result="fail", summary="no test of the edge")
    kit.clock.advance(1)
    kit.settle(who)
    kit.say("decision ask", goal=goal, question="And now?", blocks=["t-1"])
    assert [(item["text"], item["mark"]) for item in shown(kit)["proof"]] == [
        ("review by rev failed: no test of the edge", "bad"),
        ("true passed, 341 tests", "good"),
    ]


def test_fewer_tests_than_before_are_said(kit: Kit) -> None:
    goal = kit.goal()
    kit.agent("ada")
    kit.todo(goal, check=["true"])
    kit.done("a-3", "t-1", **PASSED)
    kit.sign("todo reopen", todo="t-1")
    kit.clock.advance(1)
    kit.done("a-3", "t-1", **{**PASSED, "count": 5})
    kit.say("decision ask", goal=goal, question="And?", blocks=["t-1"])
    assert shown(kit)["proof"][0]["text"] == "true passed, 5 tests; 5 tests ran, 341 at the last accepted run"


def test_an_act_rests_on_the_proof_of_its_whole_goal_but_notes_are_none(kit: Kit) -> None:
    goal = kit.goal(criterion=[[f"is {n}", ["true", str(n)]] for n in range(9)])
    kit.todo(goal)
    for number in range(1, 10):
        kit.act("criterion prove", criterion=f"c-{number}", outcome="pass", tree=TREE)
        kit.clock.advance(1)
    who = kit.begin(kit.agent())
    kit.turn(who, "evidence add", turn=who.turn, kind="note", ref="looked")
    kit.turn(who, "decision ask", goal=goal, question="push?", effect=PUSH, blocks=["t-1"])
    found = shown(kit)["proof"]
    assert [item["text"] for item in found] == [f"true {number} passed" for number in range(8, 2, -1)], (
        "six, the newest"
    )


def test_poisoned_proof_is_left_out_and_a_lost_check_is_called_one(kit: Kit) -> None:
    goal = kit.goal(criterion=[["a", ["true"]], ["b", ["false"]]])
    for criterion in ("c-1", "c-2"):
        kit.act("criterion prove", criterion=criterion, outcome="pass", tree=TREE)
    kit.act(
        "decision propose", goal=goal, question="Close?", commands=[{"verb": "goal close", "arguments": {"goal": goal}}]
    )
    poison(kit, "evidence", "e-2", "kind", "'rumour'")
    poison(kit, "check", "k-1", "argv", "'['")
    kit.tamper("delete from touched where subject = 'e-1'")
    assert [(item["text"], item["receipt"]) for item in shown(kit)["proof"]] == [("the check passed", None)]


# -- who and what --------------------------------------------------------------------------------------------------------


def test_there_must_be_such_a_decision_in_reach(kit: Kit) -> None:
    kit.agent("ada")
    kit.agent("bob")
    kit.say("decision ask", goal=kit.draft(agent=["bob"]), question="Which?")
    with pytest.raises(NotFound):
        read(kit, "decision", id="d-9")
    with pytest.raises(UsageError):
        read(kit, "decision", id="g-1")
    with pytest.raises(Refused):
        read(kit, "decision", Identity(kind="agent", actor="a-3"), id="d-1")
    assert read(kit, "decision", Identity(kind="agent", actor="a-4"), id="d-1")["item"]["question"] == "Which?"


@pytest.mark.parametrize(
    ("field", "sql"), [("state", "'odd'"), ("options", "'['"), ("risk", "'huge'"), ("why", BAD_TEXT)]
)
def test_a_decision_that_cannot_be_read_says_why(kit: Kit, field: str, sql: str) -> None:
    kit.say("decision ask", goal=kit.draft(), question="Which?")
    poison(kit, "decision", "d-1", field, sql)
    with pytest.raises(LedgerUnusable, match="d-1 is damaged"):
        read(kit, "decision", id="d-1")


def test_what_stands_beside_it_may_be_damaged(kit: Kit) -> None:
    asked(kit, blocks=["t-1"])
    poison(kit, "goal", "g-1", "phase", "'odd'")
    poison(kit, "actor", "a-3", "argv", "'['")
    poison(kit, "todo", "t-1", "needs", "'['")
    found = shown(kit)
    assert found["goal"] == {"id": "g-1", "title": "g-1", "phase": ""}
    assert found["asked_by_name"] == "a-3"
    assert found["blocks"] == [{"id": "t-1", "title": "t-1"}]
