"""The story: the exact sentence and voice of every receipt that moves it, and silence for the rest."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import OTHER_TREE, OWNER, TREE, Kit, kit  # noqa: F401
from reading.scene import PUSH, poison

from loopx_engine.commands.verbs import VERBS
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import DAY
from loopx_engine.reading.telling import MOST, TOLD, cut, sentence_of

SILENT = {
    "owner init", "owner rotate", "actor add", "actor retire", "project add", "project setup", "todo order", "todo ready",
    "turn start", "turn extend", "turn usage", "evidence add", "message consume", "handoff decline", "ledger found",
    "place make", "effect attempt", "wake set", "limit set",
}  # fmt: skip


def told(kit: Kit, *, you: str = "you") -> tuple[str, str]:
    """What the last receipt says."""
    receipt = kit.engine.ledger.last_receipts(limit=1)[0]
    with kit.engine.read() as reader:
        return sentence_of(reader, receipt, you)


def working(kit: Kit, **given: Any) -> Any:
    """ada at work on t-1, 'Rank', of g-1."""
    kit.todo(kit.goal("Shop"), "Rank", **given)
    return kit.begin(kit.agent("ada"))


def test_every_verb_is_told_or_silent_on_purpose() -> None:
    assert set(TOLD) | SILENT == set(VERBS)
    assert not set(TOLD) & SILENT


def test_what_moves_no_story_is_silent(kit: Kit) -> None:
    assert told(kit) == ("", "soft")
    kit.agent()
    assert told(kit) == ("", "soft")


def test_a_goal_from_its_first_word_to_its_archive(kit: Kit) -> None:
    goal = kit.draft("Fix it")
    assert told(kit) == ("added by you: Fix it", "accent")
    kit.say("todo add", goal=goal, title="One")
    kit.say("todo add", goal=goal, title="Two")
    kit.sign("goal resume", goal=goal)
    assert told(kit) == ("plan accepted by you, 2 todos", "accent")
    kit.say("goal edit", goal=goal, priority=1)
    assert told(kit) == ("priority changed by you", "accent")
    kit.say("goal edit", goal=goal)
    assert told(kit) == ("goal changed by you", "accent")
    kit.say("goal pause", goal=goal)
    assert told(kit) == ("paused by you", "accent")
    kit.sign("goal resume", goal=goal)
    assert told(kit) == ("resumed by you", "accent")
    for name in ("t-1", "t-2"):
        kit.say("todo drop", todo=name)
    assert told(kit) == ("t-2 dropped by you: Two", "soft")
    kit.sign("goal close", goal=goal, note="that is all")
    assert told(kit) == ("closed by you: that is all", "good")
    kit.sign("goal reopen", goal=goal)
    assert told(kit) == ("taken up again by you", "accent")
    kit.say("stop", goal=goal)
    assert told(kit) == ("stopped by you", "accent")
    kit.sign("goal archive", goal=goal)
    assert told(kit) == ("archived by you", "accent")
    assert told(kit, you="the person") == ("archived by the person", "accent")


def test_one_todo_is_one_todo_and_a_plan_without_any_a_start(kit: Kit) -> None:
    goal = kit.draft()
    kit.sign("goal resume", goal=goal)
    assert told(kit) == ("started by you", "accent")
    kit.say("goal pause", goal=goal)
    kit.say("todo add", goal=goal, title="One")
    kit.sign("goal resume", goal=goal)
    assert told(kit) == ("plan accepted by you, 1 todo", "accent")


def test_criteria_and_checks(kit: Kit) -> None:
    goal = kit.draft(criterion=[["runs", ["/usr/bin/python3", "-m", "pytest"]], ["fast", []], ["neat", []]])
    kit.sign("criterion add", goal=goal, text="small")
    assert told(kit) == ("criterion 4 added by you", "accent")
    kit.sign("criterion waive", criterion="c-2", reason="later")
    assert told(kit) == ("criterion 2 given up by you: later", "accent")
    kit.sign("criterion meet", criterion="c-3", reason="read it")
    assert told(kit) == ("criterion 3 confirmed by you: read it", "good")
    kit.act("criterion prove", criterion="c-1", outcome="fail")
    assert told(kit) == ("criterion 1 not met", "bad")
    kit.act("criterion prove", criterion="c-1", outcome="pass")
    assert told(kit) == ("criterion 1 met", "good")
    kit.act("check baseline", check="k-1", baseline="red")
    assert told(kit) == ("the check `python -m pytest` is red on the base commit", "soft")
    kit.act("check baseline", check="k-1", baseline="cannot run")
    assert told(kit) == ("the check `python -m pytest` cannot run on the base commit", "bad")
    kit.sign("check set", subject="c-1", argv=["make", "test"])
    assert told(kit) == ("check of c-1 set by you: `make test`", "accent")


def test_todos(kit: Kit) -> None:
    goal = kit.draft()
    kit.say("todo add", goal=goal, title="One")
    assert told(kit) == ("t-1 added by you: One", "soft")
    kit.say("todo edit", todo="t-1", body="more")
    assert told(kit) == ("t-1 changed by you: One", "soft")
    kit.say("todo split", todo="t-1", into=["a", "b"])
    assert told(kit) == ("t-1 split by you: One", "soft")
    kit.say("todo drop", todo="t-2")
    kit.say("todo reopen", todo="t-2")
    assert told(kit) == ("t-2 taken up again by you: a", "soft")
    kit.say("todo edit", todo="t-3", body="more")
    kit.say("undo", receipt=f"r-{kit.seq()}")
    assert told(kit) == (f"r-{kit.seq() - 1} taken back by you", "accent")


def test_a_turn_that_proves_its_claim(kit: Kit) -> None:
    who = working(kit, check=["true"])
    assert told(kit) == ("ada takes “Rank” (u-1)", "run")
    kit.finish(who, summary="it ranks\nnow")
    assert told(kit) == ("u-1 says done: it ranks now", "soft")
    kit.settle(who, outcome="fail", check="k-1", exit=1, tail="one\n 1 failed \n\n", mendable=True)
    assert told(kit) == ("“done” refused by the check: 1 failed; the turn stays open to mend it", "bad")
    kit.finish(who)
    assert told(kit) == ("u-1 says done", "soft")
    kit.settle(who, outcome="pass", check="k-1", sandbox="bwrap", changed=["a"])
    assert told(kit) == ("turn u-1 done, proved: “Rank”", "good")
    kit.act("effect attempt", effect="x-1")
    kit.act("effect settle", effect="x-1", state="done", value="0123456789abcdef")
    assert told(kit) == ("committed 0123456789: “Rank”", "good")


def test_a_claim_that_fails_for_good_and_one_without_output(kit: Kit) -> None:
    who = working(kit, check=["true"])
    kit.finish(who)
    kit.settle(who, outcome="fail", check="k-1", exit=7)
    assert told(kit) == ("“done” refused by the check: exit 7", "bad")


def test_a_proof_without_a_box_says_so(kit: Kit) -> None:
    who = working(kit, check=["true"])
    kit.finish(who)
    kit.settle(who, outcome="pass", check="k-1", sandbox="none")
    assert told(kit) == ("turn u-1 done, proved: “Rank” (not sandboxed)", "good")


def test_what_is_done_without_proof_is_no_good_news(kit: Kit) -> None:
    who = working(kit)
    kit.finish(who)
    kit.settle(who)
    assert told(kit) == ("turn u-1 done, not proved: “Rank”", "accent")


def test_a_check_that_cannot_run_ends_the_turn(kit: Kit) -> None:
    who = working(kit, check=["true"])
    kit.finish(who)
    kit.settle(who, outcome="cannot run", check="k-1")
    assert told(kit) == ("turn u-1 ended: its check cannot run", "bad")


@pytest.mark.parametrize(
    ("outcome", "voice"), [("progress", "soft"), ("blocked", "accent"), ("failed", "bad")], ids=str
)
def test_other_ends_of_a_turn(kit: Kit, outcome: str, voice: str) -> None:
    who = working(kit)
    kit.finish(who, outcome=outcome)
    assert told(kit)[0] == f"u-1 says {outcome}"
    kit.settle(who)
    assert told(kit) == (f"turn u-1 ended: {outcome}", voice)


def test_a_question_that_comes_before_the_proof_stands_in_the_way(kit: Kit) -> None:
    who = working(kit)
    kit.finish(who)
    kit.say("decision ask", goal="g-1", question="Which?", blocks=["t-1"])
    kit.settle(who)
    assert told(kit) == ("turn u-1 ended: d-1 stands in the way", "accent")


def test_turns_that_end_without_a_claim(kit: Kit) -> None:
    who = working(kit)
    kit.turn(who, "turn abandon", turn=who.turn, reason="too hard")
    assert told(kit) == ("turn u-1 ended: interrupted, too hard", "soft")
    who = kit.begin("a-3")
    kit.act("turn end", turn=who.turn, result="failed", reason="exit 1")
    assert told(kit) == ("turn u-2 ended: failed, exit 1; its files are kept", "bad")
    who = kit.begin("a-3")
    kit.act("turn lose", turn=who.turn, reason="its process is gone")
    assert told(kit) == ("turn u-3 lost, its process is gone; its files are kept", "bad")
    who = kit.begin("a-3")
    kit.turn(who, "lease release", turn=who.turn)
    assert told(kit) == ("turn u-4 ended: progress, released", "soft")
    kit.begin("a-3")
    kit.sign("lease take", todo="t-1")
    assert told(kit) == ("“Rank” taken from u-5 by you", "accent")


def test_planning_turns(kit: Kit) -> None:
    kit.begin(kit.agent("ada", capability=["plan"]), goal=kit.draft())
    assert told(kit) == ("ada plans (u-1)", "run")


def reviewed(kit: Kit) -> Any:
    kit.agent("ada")
    kit.agent("rev")
    kit.todo(kit.goal("Shop", agent=["ada"], reviewer=["rev"]), "Rank")
    kit.done("a-3", "t-1")
    assert told(kit) == ("turn u-1 waits for a review of “Rank”", "accent")
    who = kit.begin("a-4", goal="g-1", todo="t-1")
    assert told(kit) == ("rev reviews “Rank” (u-2)", "run")
    return who


@pytest.mark.parametrize(
    ("result", "expected"),
    [("pass", ("turn u-2 done, reviewed: “Rank”", "good")), ("fail", ("review of “Rank” failed", "bad"))],
)
def test_reviews(kit: Kit, result: str, expected: tuple[str, str]) -> None:
    who = reviewed(kit)
    kit.turn(who, "turn finish", turn=who.turn, outcome="done", result=result, summary="looked")
    assert told(kit) == (f"u-2 says {result}: looked", "soft")
    kit.settle(who)
    assert told(kit) == expected


@pytest.mark.parametrize(
    ("option", "tree", "expected"),
    [
        ("yes", TREE, ("“Rank” done, confirmed by you", "good")),
        ("no", TREE, ("“Rank” is open again: fail", "accent")),
        ("yes", OTHER_TREE, ("“Rank” is open again: its tree has changed since", "accent")),
    ],
)
def test_a_persons_word_for_a_review(kit: Kit, option: str, tree: str, expected: tuple[str, str]) -> None:
    who = working(kit, check=["true"])
    kit.finish(who)
    kit.settle(who, outcome="pass", check="k-1", changed=["tests/test_a.py"])
    kit.act("decision ask", goal="g-1", question="Take it?", blocks=["t-1"], cause="unreviewed:t-1:e-1")
    kit.sign("decision answer", decision="d-1", option=option, basis=kit.get(Decision, "d-1").basis)
    kit.act("review settle", todo="t-1", decision="d-1", tree=tree)
    assert told(kit) == expected


def test_questions_and_answers(kit: Kit) -> None:
    who = working(kit)
    kit.turn(who, "decision ask", goal="g-1", question="Which?", option=["a", "b"])
    assert told(kit) == ("d-1 (low risk) waits for you: Which?", "accent")
    kit.say("decision ask", goal="g-1", question="Which?", option=["a", "b"])
    assert told(kit) == ("", "soft"), "the same question is one question"
    kit.say("decision snooze", decision="d-1")
    assert told(kit) == ("d-1 put off by you", "soft")
    kit.sign("decision answer", decision="d-1", option="2", basis=kit.get(Decision, "d-1").basis, reason="shorter")
    assert told(kit) == ("d-1 answered 2 by you, signed (key file): shorter", "accent")
    kit.say("decision ask", goal="g-1", question="And?", blocks=["t-1"])
    kit.say("decision withdraw", decision="d-2")
    assert told(kit) == ("d-2 withdrawn by you", "soft")
    kit.act("decision expire", decision="d-2")
    assert told(kit) == ("d-2 ran out, asked anew as d-3", "accent")
    kit.say("decision ask", goal="g-1", question="Still?")
    kit.clock.advance(8 * DAY)
    kit.act("decision expire", decision="d-4")
    assert told(kit) == ("d-4 ran out", "soft")


def test_a_proposal_with_todos_is_a_plan(kit: Kit) -> None:
    goal = kit.draft()
    todos = [{"verb": "todo add", "arguments": {"goal": goal, "title": str(number)}} for number in range(2)]
    for commands, expected in (
        (todos, "plan accepted by you, 2 todos: good"),
        (todos[:1], "plan accepted by you, 1 todo: good"),
        ([{"verb": "goal edit", "arguments": {"goal": goal}}], "d-3 answered yes by you, signed (key file): good"),
    ):
        name = kit.say("decision propose", goal=goal, question=f"{len(commands)} {expected}", commands=commands)[
            "decision"
        ]
        assert told(kit)[0].startswith(f"{name} (low risk) waits for you: ")
        kit.sign("decision answer", decision=name, option="yes", basis=kit.get(Decision, name).basis, reason="good")
        assert told(kit) == (expected, "accent")


def test_acts_outside(kit: Kit) -> None:
    who = working(kit)
    kit.sign("grant add", kind="push", pattern="origin/preview/*", goal="g-1", uses=3)
    assert told(kit) == ("gr-1: push origin/preview/* allowed by you, 3 uses", "accent")
    kit.sign("grant add", kind="push", pattern="origin/old", goal="g-1", effect="deny")
    assert told(kit)[0].startswith("gr-2: push origin/old denied by you")
    kit.turn(who, "decision ask", goal="g-1", question="preview?", effect={**PUSH, "ref": "preview/x"})
    assert told(kit) == ("preview?: allowed under gr-1, nobody was asked", "soft")
    kit.turn(who, "decision ask", goal="g-1", question="old?", effect={**PUSH, "ref": "old"})
    assert told(kit) == ("old?: refused under gr-2, nobody was asked", "soft")
    kit.act("effect attempt", effect="x-1")
    kit.act("effect settle", effect="x-1", state="uncertain", detail="cut off")
    assert told(kit) == ("push to origin/preview/x uncertain under gr-1, nobody was asked: cut off", "accent")
    kit.act("effect settle", effect="x-1", state="done", detail="read back")
    assert told(kit) == ("push to origin/preview/x done under gr-1, nobody was asked", "good")
    kit.sign("grant revoke", grant="gr-1")
    assert told(kit) == ("gr-1 ended by you", "accent")
    merge = {"action": "merge", "into": "main", "sha": "a" * 40, "into_has": "", "protected": []}
    kit.turn(who, "decision ask", goal="g-1", question="merge?", effect=merge)
    basis = kit.get(Decision, "d-1").basis
    kit.sign("decision answer", decision="d-1", option="yes", basis=basis, remember=True)
    assert told(kit) == ("d-1 answered yes by you, signed (key file); gr-3 remembers it", "accent")
    kit.act("effect attempt", effect="x-2")
    kit.act("effect settle", effect="x-2", state="failed", detail="conflict in a")
    assert told(kit) == ("merge into main failed, as d-1 says: conflict in a", "bad")


def test_an_answer_about_what_is_no_longer_so_is_void(kit: Kit) -> None:
    who = working(kit)
    kit.turn(who, "decision ask", goal="g-1", question="push?", effect={**PUSH, "ref": "x"})
    kit.sign("decision answer", decision="d-1", option="yes", basis=kit.get(Decision, "d-1").basis)
    kit.act("decision settle", decision="d-1", state="void", outcome="sha changed", effect={**PUSH, "sha": "b" * 40})
    assert told(kit) == ("d-1 is void: sha changed; asked anew as d-2", "bad")
    kit.sign(
        "decision answer", decision="d-2", option="yes", basis=kit.get(Decision, "d-2").basis, goal="g-1", reason="go"
    )
    kit.act("decision settle", decision="d-2", state="carried out", outcome="done")
    assert told(kit) == ("", "soft")


def test_places(kit: Kit) -> None:
    kit.todo(kit.goal())
    assert told(kit)[0].startswith("t-1 added")
    kit.act("place settle", place="pl-1", state="broken", reason="no disk")
    assert told(kit) == ("place pl-1 cannot be used: no disk", "bad")
    kit.say("place retry", place="pl-1")
    assert told(kit) == ("pl-1 is tried again by you", "accent")
    kit.act("place settle", place="pl-1", state="ready")
    assert told(kit) == ("place pl-1 is ready", "soft")
    kit.act("place set aside", place="pl-1", saved="refs/loopx/t-1")
    assert told(kit) == ("the work in pl-1 was set aside as refs/loopx/t-1", "soft")
    kit.say("place drop", place=kit.place("g-1"))
    assert told(kit) == ("pl-2 given up by you", "soft")


def test_what_is_said_in_the_thread(kit: Kit) -> None:
    who = working(kit)
    kit.turn(who, "message send", goal="g-1", text="half done")
    assert told(kit) == ("ada: half done", "soft")
    kit.sign("message send", goal="g-1", text="leave it", correction=True)
    assert told(kit) == ("corrected by you: leave it", "accent")


def test_a_handoff(kit: Kit) -> None:
    who = working(kit)
    bob = kit.agent("bob")
    kit.turn(who, "handoff offer", turn=who.turn, note="the second half")
    assert told(kit) == ("ada hands over “Rank”: the second half", "soft")
    from loopx_engine.model.identity import Identity

    kit.engine.run("handoff accept", {"handoff": "h-1"}, Identity(kind="agent", actor=bob))
    assert told(kit) == ("bob takes “Rank” (u-2)", "run")


# -- damage ---------------------------------------------------------------------------------------------------------------


def test_a_sentence_about_a_damaged_record_says_so(kit: Kit) -> None:
    working(kit)
    poison(kit, "actor", "a-3", "argv", "'['")
    assert told(kit) == ("turn begin: what it said cannot be read", "bad")


@pytest.mark.parametrize("body", ['{"answer": {}}', '{"answer": 5}', '{"answer": [1]}', "{}", '{"arguments": 7}'])
@pytest.mark.parametrize("verb", sorted(TOLD))
def test_no_payload_breaks_the_story(kit: Kit, verb: str, body: str) -> None:
    kit.draft()
    seq = kit.seq()
    kit.tamper("drop trigger receipt_kept_update")
    kit.tamper("update payload set body = :body where seq = :seq", body=body, seq=seq)
    kit.tamper("update receipt set verb = :verb where seq = :seq", verb=verb, seq=seq)
    text, voice = told(kit)
    assert isinstance(text, str)
    assert voice in {"good", "bad", "accent", "run", "soft"}


def test_what_was_removed_says_so(kit: Kit) -> None:
    kit.draft()
    kit.tamper("update payload set body = 'redacted' where seq = :seq", seq=kit.seq())
    assert told(kit) == ("goal add: what it said was removed", "soft")


def test_an_actor_that_is_gone_is_called_by_its_id(kit: Kit) -> None:
    kit.goal()
    kit.say("goal pause", goal="g-1")
    kit.tamper("delete from actor where id = :id", id=OWNER.actor)
    assert told(kit) == ("paused by a-1", "accent")


def test_records_that_are_gone_leave_their_ids(kit: Kit) -> None:
    who = working(kit, check=["true"])
    kit.act("check baseline", check="k-1", baseline="green")
    kit.tamper('delete from "check"')
    assert told(kit)[0] == "the check `?` is green on the base commit"
    kit.turn(who, "turn abandon", turn=who.turn)
    kit.tamper('delete from "turn"')
    assert told(kit)[0] == "turn u-1 ended"
    kit.sign("criterion add", goal="g-1", text="x")
    kit.tamper("delete from criterion")
    assert told(kit)[0] == "criterion c-1 added by you"


@pytest.mark.parametrize(("most", "expected"), [(3, "ab…"), (4, "ab…"), (5, "ab cd"), (9, "ab cd")])
def test_cut_keeps_one_line_of_at_most_so_many(most: int, expected: str) -> None:
    assert cut(" ab\n cd ", most) == expected
    assert len(cut("x" * 999, MOST)) == MOST
