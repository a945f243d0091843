"""A question only a person answers: what it blocks, what unblocks it, what an answer and a grant set off (MODEL.md 3, 6)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import ENGINE, OWNER, Kit, kit

from loopx_engine.errors import LoopxError, NotFound, Refused, StateMoved, UsageError, WaitsForPerson
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import DAY, DECISION_EXPIRES_MS, GRANT_EXPIRES_MS, GRANT_USES, HOUR
from loopx_engine.model.effect import Effect
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.identity import Identity
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn

__all__ = ["kit"]


def push(ref: str = "loopx/x", **more: Any) -> dict[str, Any]:
    return {
        "action": "push",
        "remote": "origin",
        "ref": ref,
        "sha": "1" * 40,
        "remote_has": "",
        "protected": ["stable"],
        **more,
    }


class Asking:
    """A goal with two todos and an agent in a turn on the first one."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self.agent = kit.agent()
        self.goal = kit.goal(budget="days=100")
        self.todo = kit.todo(self.goal)
        self.other = kit.todo(self.goal, "Something else")
        self.who = kit.begin(self.agent, todo=self.todo)

    def ask(self, question: str = "May I?", **given: Any) -> dict[str, Any]:
        return self.kit.turn(self.who, "decision ask", goal=self.goal, question=question, **given)

    def answer(self, decision: str, option: str = "yes", **given: Any) -> dict[str, Any]:
        return self.kit.sign(
            "decision answer", decision=decision, option=option, basis=self.get(decision).basis, **given
        )

    def get(self, decision: str) -> Decision:
        return self.kit.get(Decision, decision)

    def leave(self) -> None:
        """The turn ends and leaves nothing behind."""
        self.kit.act("turn end", turn=self.who.turn, result="interrupted")

    def takes(self, todo: str) -> bool:
        """Whether the agent can take a todo; the turn then ends and leaves nothing behind."""
        agent = Identity(kind="agent", actor=self.agent)
        refusal = self.kit.refusal("turn begin", {"todo": todo}, agent)
        if refusal is not None:
            assert refusal.code == "decision_open"
            return False
        turn = self.kit.all(Turn)[-1].id
        self.kit.act("turn end", turn=turn, result="interrupted")
        return True


@pytest.fixture
def asking(kit: Kit) -> Asking:
    return Asking(kit)


# -- what a decision blocks -----------------------------------------------------------------------------------------------


def test_a_todo_under_an_open_decision_can_be_neither_taken_nor_finished(asking: Asking) -> None:
    decision = asking.ask(blocks=[asking.todo])["decision"]
    with pytest.raises(WaitsForPerson) as caught:
        asking.kit.finish(asking.who)
    assert caught.value.details == {"decision": decision}
    asking.leave()
    assert not asking.takes(asking.todo)
    assert asking.takes(asking.other)
    asking.answer(decision)
    assert asking.takes(asking.todo)


def test_a_withdrawn_question_still_blocks_and_is_asked_anew(asking: Asking) -> None:
    decision = asking.ask(blocks=[asking.todo], option=["left", "right"])["decision"]
    answer = asking.kit.turn(asking.who, "decision withdraw", decision=decision, reason="never mind")
    assert answer["still_blocks"] == [asking.todo]
    asking.leave()
    assert not asking.takes(asking.todo)
    again = asking.kit.act("decision expire", decision=decision)["asked_anew"]
    assert (asking.get(again).question, asking.get(again).asked, asking.get(again).reason) == ("May I?", 2, "")
    assert not asking.takes(asking.todo)
    asking.answer(again, "1")
    assert asking.takes(asking.todo)


def test_an_expired_question_still_blocks_and_is_asked_anew_with_its_count(asking: Asking) -> None:
    decision = asking.ask(blocks=[asking.todo])["decision"]
    asking.leave()
    with pytest.raises(Refused) as caught:
        asking.kit.act("decision expire", decision=decision)
    assert caught.value.code == "not_expired"
    asking.kit.clock.advance(DECISION_EXPIRES_MS)
    with pytest.raises(Refused) as late:
        asking.answer(decision)
    assert late.value.code == "expired"
    for count in (2, 3):
        decision = str(asking.kit.act("decision expire", decision=decision)["asked_anew"])
        assert (asking.get(decision).state, asking.get(decision).asked) == ("open", count)
        assert not asking.takes(asking.todo)
        asking.kit.clock.advance(DECISION_EXPIRES_MS)
    with pytest.raises(Refused) as twice:
        asking.kit.act("decision expire", decision="d-1")
    assert twice.value.code == "not_open"


def test_a_question_about_a_todo_that_is_gone_is_not_asked_anew(asking: Asking) -> None:
    decision = asking.kit.say("decision ask", goal=asking.goal, question="Needed?", blocks=[asking.other])["decision"]
    asking.kit.say("todo drop", todo=asking.other)
    asking.kit.clock.advance(DECISION_EXPIRES_MS)
    assert asking.kit.act("decision expire", decision=decision)["asked_anew"] is None
    assert asking.get(decision).outcome == "no longer wanted"


def test_a_no_denies_that_act_and_blocks_nothing_else(asking: Asking) -> None:
    decision = asking.ask(blocks=[asking.todo], effect=push())["decision"]
    asking.leave()
    answer = asking.answer(decision, "no", reason="not today")
    assert "effect" not in answer
    assert (asking.get(decision).state, asking.get(decision).outcome) == ("carried out", "refused")
    assert asking.kit.all(Effect) == []
    assert asking.takes(asking.todo)
    assert asking.takes(asking.other)


def test_a_snoozed_question_stays_open_and_keeps_blocking(asking: Asking) -> None:
    decision = asking.ask(blocks=[asking.todo])["decision"]
    asking.leave()
    until = asking.kit.say("decision snooze", decision=decision, hours=24 * 20)["until"]
    assert asking.get(decision).expires == until + DAY
    assert not asking.takes(asking.todo)
    for hours in (0, -1, 24 * 30 + 1):
        with pytest.raises(UsageError):
            asking.kit.say("decision snooze", decision=decision, hours=hours)
    asking.answer(decision)
    with pytest.raises(Refused) as caught:
        asking.kit.say("decision snooze", decision=decision)
    assert caught.value.code == "not_open"


def test_an_agent_blocks_only_its_own_todo(asking: Asking) -> None:
    with pytest.raises(Refused) as caught:
        asking.ask(blocks=[asking.other])
    assert caught.value.code == "not_your_todo"
    with pytest.raises(Refused):
        asking.kit.turn(
            asking.who, "decision propose", goal=asking.goal, question="This?", commands=[], blocks=[asking.other]
        )


def test_a_question_blocks_todos_that_exist_in_its_goal(asking: Asking) -> None:
    far = asking.kit.todo(asking.kit.goal("Far", project="p-1"))
    with pytest.raises(UsageError) as caught:
        asking.kit.say("decision ask", goal=asking.goal, question="Really?", blocks=[far])
    assert caught.value.code == "other_goal"
    with pytest.raises(NotFound):
        asking.kit.say("decision ask", goal=asking.goal, question="Really?", blocks=["t-99"])


def test_an_agent_takes_back_only_its_own_choices_and_proposals(asking: Asking) -> None:
    mine = asking.ask(effect=push())["decision"]
    owners = asking.kit.say("decision ask", goal=asking.goal, question="Whose?")["decision"]
    for decision in (mine, owners):
        with pytest.raises(Refused) as caught:
            asking.kit.turn(asking.who, "decision withdraw", decision=decision)
        assert caught.value.code == "not_yours"
    asking.kit.say("decision withdraw", decision=owners)
    with pytest.raises(Refused) as gone:
        asking.answer(owners)
    assert gone.value.code == "not_open"


# -- asking ---------------------------------------------------------------------------------------------------------------


def test_equal_open_questions_are_one_question(asking: Asking) -> None:
    first = asking.ask(effect=push(), ref="call-1")
    again = asking.ask(effect=push(), ref="call-2", blocks=[asking.todo])
    assert again == {"decision": first["decision"], "basis": first["basis"], "joined": True}
    assert (asking.get(first["decision"]).blocks, asking.get(first["decision"]).ask_ref) == ((asking.todo,), "call-2")
    assert asking.ask(effect=push("loopx/y"))["decision"] != first["decision"]
    assert asking.ask("May I?")["decision"] == asking.ask("May I?", ref="")["decision"]
    other = asking.kit.goal("Other", project="p-1")
    assert asking.kit.say("decision ask", goal=other, question="May I?")["decision"] not in (
        "d-1", "d-2", "d-3",
    )  # fmt: skip


def test_the_engine_asks_once_for_one_cause(asking: Asking) -> None:
    first = asking.kit.act("decision ask", goal=asking.goal, question="Closer?", cause="ready_to_close:x")
    again = asking.kit.act("decision ask", goal=asking.goal, question="Close?", cause="ready_to_close:x")
    assert first["decision"] == again["decision"]
    for who in (OWNER, asking.who):
        with pytest.raises(UsageError, match="only the engine"):
            asking.kit.engine.run(
                "decision ask", {"goal": asking.goal, "question": "Close?", "cause": "ready_to_close:x"}, who
            )


def test_whoever_asks_can_only_raise_the_risk(asking: Asking) -> None:
    assert asking.ask("one", effect=push(), risk="low")["risk"] == "medium"
    assert asking.ask("two", effect=push(), risk="high")["risk"] == "high"
    assert asking.ask("three", effect=push("main"), risk="low")["risk"] == "high"
    assert asking.ask("four", effect=push("stable"))["risk"] == "high"
    assert asking.ask("five")["risk"] == "low"
    assert asking.ask("six", risk="medium")["risk"] == "medium"
    commands = [{"verb": "todo add", "arguments": {}}, {"verb": "grant add", "arguments": {}}]
    proposed = asking.kit.turn(asking.who, "decision propose", goal=asking.goal, question="seven", commands=commands)
    assert proposed["risk"] == "high"
    with pytest.raises(UsageError):
        asking.ask("eight", risk="none")


@pytest.mark.parametrize(
    ("effect", "text"),
    [
        ({"action": "push", "remote": "origin", "ref": "x"}, "origin/x"),
        ({"action": "merge", "into": "main"}, "main"),
        ({"action": "command", "argv": ["make", "a b"]}, "make 'a b'"),
        ({"action": "write", "path": "docs/a.md", "text": "x"}, "docs/a.md"),
        ({"action": "post", "to": "#news", "text": "x"}, "#news"),
    ],
)
def test_every_act_has_one_text_that_a_grant_covers(asking: Asking, effect: dict[str, Any], text: str) -> None:
    kinds = {"push": "push", "merge": "merge", "command": "exec", "write": "write", "post": "publish"}
    assert asking.ask(effect=effect)["decision"]
    grant = asking.kit.sign("grant add", kind=kinds[effect["action"]], pattern=text)["grant"]
    answer = asking.ask("Again?", effect=effect)
    assert (answer["decision"], answer["answer"], answer["grant"]) == (None, "yes", grant)
    asking.kit.act("effect attempt", effect=answer["effect"])


@pytest.mark.parametrize(
    "effect",
    [{}, {"action": "erase"}, {"action": "push"}, {"action": "merge"}, {"action": "command", "argv": "rm -rf /"},
     {"action": "command", "argv": []}, {"action": "write"}, {"action": "post", "to": " "}, {"action": 5}],
)  # fmt: skip
def test_what_is_no_act_is_a_clear_error(asking: Asking, effect: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        asking.ask(effect=effect)
    assert caught.value.code == "bad_effect"


# -- answering ------------------------------------------------------------------------------------------------------------


def test_a_yes_leaves_the_intent_and_is_carried_out_once_it_is_done(asking: Asking) -> None:
    decision = asking.ask(effect=push())["decision"]
    effect = asking.answer(decision, text="go on")["effect"]
    assert (asking.get(decision).state, asking.get(decision).answer_text) == ("answered", "go on")
    with pytest.raises(Refused) as twice:
        asking.answer(decision)
    assert twice.value.code == "not_open"
    row = asking.kit.get(Effect, effect)
    assert (row.state, row.decision, row.params, row.turn) == ("intent", decision, push(), asking.who.turn)
    asking.kit.act("effect attempt", effect=effect)
    asking.kit.act("effect settle", effect=effect, state="uncertain")
    assert asking.get(decision).state == "answered"
    asking.kit.act("effect settle", effect=effect, state="done", detail="pushed")
    assert (asking.get(decision).state, asking.get(decision).outcome) == ("carried out", "done: pushed")


def test_a_commit_elsewhere_is_asked_for_and_settled_like_any_other_act(asking: Asking) -> None:
    effect = asking.answer(asking.ask(effect={"action": "commit", "to": "side", "text": "x"})["decision"])["effect"]
    asking.kit.act("effect attempt", effect=effect)
    asking.kit.act("effect settle", effect=effect, state="done", value="c" * 40)
    assert asking.kit.get(Effect, effect).value == "c" * 40


def test_an_answer_settled_otherwise_leaves_its_decision_as_it_is(asking: Asking) -> None:
    decision = asking.ask(effect=push())["decision"]
    effect = asking.answer(decision)["effect"]
    asking.kit.act("decision settle", decision=decision, state="void", outcome="the remote moved")
    asking.kit.act("effect settle", effect=effect, state="failed", detail="void")
    assert asking.get(decision).outcome == "the remote moved"


def test_an_answer_that_is_void_is_asked_anew_with_the_difference(asking: Asking) -> None:
    decision = asking.ask(effect=push(), blocks=[asking.todo], why="to show it")["decision"]
    asking.answer(decision)
    moved = push(sha="2" * 40)
    answer = asking.kit.act("decision settle", decision=decision, state="void", outcome="sha moved", effect=moved)
    again = asking.get(answer["asked_anew"])
    assert (again.effect, again.blocks, again.why) == (moved, (asking.todo,), "sha moved. to show it")
    assert (again.asked_by, again.turn) == (asking.agent, asking.who.turn)
    other = asking.ask("Other?", effect=push("loopx/y"))["decision"]
    asking.answer(other)
    settled = asking.kit.act("decision settle", decision=other, state="carried out", outcome="read back")
    assert settled == {"decision": other, "state": "carried out"}


def test_an_answer_binds_to_what_was_shown(asking: Asking) -> None:
    decision = asking.ask()["decision"]
    for basis in ("", "0" * 64):
        with pytest.raises(StateMoved) as caught:
            asking.kit.engine.preview("decision answer", {"decision": decision, "option": "yes", "basis": basis}, OWNER)
        assert caught.value.details == {"basis": asking.get(decision).basis}


def test_only_a_listed_option_is_an_answer(asking: Asking) -> None:
    choice = asking.ask("Which?", option=["left", "right"])["decision"]
    plain = asking.ask("Well?")["decision"]
    for decision, option in ((choice, "yes"), (choice, "3"), (choice, "left"), (plain, "1"), (plain, "YES")):
        with pytest.raises(UsageError) as caught:
            asking.answer(decision, option)
        assert caught.value.code == "bad_choice"
    asking.answer(choice, "2", reason="it is shorter")
    assert (asking.get(choice).answer, asking.get(choice).outcome) == ("2", "answered")
    asking.answer(plain, "no")
    assert asking.get(plain).outcome == "refused"


def test_a_high_risk_needs_the_typed_goal_and_a_reason(asking: Asking) -> None:
    decision = asking.ask(effect=push("main"))["decision"]
    for given in ({}, {"goal": asking.goal}, {"reason": "released"}, {"goal": "g-9", "reason": "released"},
                  {"goal": asking.goal, "reason": "  "}):  # fmt: skip
        with pytest.raises(Refused) as caught:
            asking.answer(decision, **given)
        assert caught.value.code == "high_risk"
    assert asking.answer(decision, goal=asking.goal, reason="released")["effect"]


def test_a_decider_answers_up_to_medium_and_an_operator_nothing(asking: Asking) -> None:
    high, medium = (asking.ask(effect=push(ref))["decision"] for ref in ("main", "loopx/x"))
    asking.kit.tamper("update actor set role = 'decider' where id = 'a-1'")
    with pytest.raises(Refused) as caught:
        asking.answer(high, goal=asking.goal, reason="please")
    assert caught.value.code == "role"
    assert asking.answer(medium)["effect"]
    asking.kit.tamper("update actor set role = 'operator' where id = 'a-1'")
    with pytest.raises(Refused) as lesser:
        asking.answer(asking.ask("Low?")["decision"])
    assert lesser.value.code == "role"


def test_a_channel_never_answers_a_high_risk(asking: Asking) -> None:
    decision = asking.ask(effect=push("main"))["decision"]
    given = {
        "decision": decision,
        "option": "yes",
        "basis": asking.get(decision).basis,
        "goal": asking.goal,
        "reason": "ok",
    }
    channel = Identity(kind="channel", actor="a-1")
    with pytest.raises(Refused) as caught:
        asking.kit.engine.preview("decision answer", given, channel)
    assert caught.value.code == "role"


# -- proposals ------------------------------------------------------------------------------------------------------------


def propose(asking: Asking, *commands: dict[str, Any], **given: Any) -> str:
    proposed = asking.kit.turn(
        asking.who, "decision propose", goal=asking.goal, question="A plan", commands=list(commands), **given
    )
    return str(proposed["decision"])


def test_an_accepted_proposal_is_carried_out_as_the_accepters_own_commands(asking: Asking) -> None:
    decision = propose(
        asking,
        {"verb": "todo add", "arguments": {"goal": asking.goal, "title": "Third", "check": ["make"]}},
        {"verb": "criterion add", "arguments": {"goal": asking.goal, "text": "it is fast"}},
    )
    answer = asking.answer(decision)
    todo = asking.kit.get(Todo, answer["carried_out"][0]["answer"]["todo"])
    assert (todo.title, todo.signed, todo.added_by) == ("Third", True, "a-1")
    assert answer["carried_out"][1]["verb"] == "criterion add"
    assert (asking.get(decision).state, asking.get(decision).outcome) == ("carried out", "accepted")


def test_a_proposal_to_close_is_answered_by_the_closing_itself(kit: Kit) -> None:
    goal = kit.goal()
    decision = kit.act(
        "decision propose", goal=goal, question="Close?", commands=[{"verb": "goal close", "arguments": {"goal": goal}}]
    )
    other = kit.say("decision ask", goal=goal, question="Merge?")["decision"]
    kit.sign("decision answer", decision=decision["decision"], option="yes", basis=decision["basis"])
    assert kit.get(Goal, goal).phase == "done"
    assert [kit.get(Decision, name).state for name in (decision["decision"], other)] == ["carried out", "withdrawn"]


def test_a_refused_proposal_changes_nothing(asking: Asking) -> None:
    decision = propose(asking, {"verb": "todo drop", "arguments": {"todo": asking.other}})
    asking.answer(decision, "no")
    assert asking.kit.get(Todo, asking.other).state == "open"


def test_a_proposal_is_accepted_whole_or_not_at_all(asking: Asking) -> None:
    decision = propose(
        asking,
        {"verb": "todo drop", "arguments": {"todo": asking.other}},
        {"verb": "todo drop", "arguments": {"todo": "t-99"}},
    )
    before = asking.kit.seq()
    with pytest.raises(NotFound):
        asking.answer(decision)
    assert (asking.kit.seq(), asking.kit.get(Todo, asking.other).state) == (before, "open")
    assert asking.get(decision).state == "open"


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("decision answer", {"decision": "d-1", "option": "yes"}),
        ("grant add", {"kind": "push", "pattern": "*"}),
        ("owner init", {"public_key": "x"}),
        ("owner rotate", {"public_key": "x"}),
        ("actor add", {"name": "eve"}),
        ("undo", {"receipt": "r-1"}),
        ("turn begin", {}),
        ("turn settle", {"turn": "u-1"}),
        ("effect settle", {"effect": "x-1", "state": "done"}),
    ],
)
def test_what_cannot_be_proposed_is_refused_when_it_is_accepted(
    asking: Asking, verb: str, arguments: dict[str, Any]
) -> None:
    decision = propose(asking, {"verb": verb, "arguments": arguments})
    with pytest.raises(Refused) as caught:
        asking.answer(decision, goal=asking.goal, reason="why not")
    assert caught.value.code == "not_proposable"


@pytest.mark.parametrize("command", [{}, {"verb": "no such"}, {"verb": 5}])
def test_a_proposal_of_what_is_no_command_is_refused_at_once(asking: Asking, command: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        propose(asking, command)
    assert caught.value.code == "unknown_verb"


def test_a_proposed_command_with_wrong_words_is_a_clear_error(asking: Asking) -> None:
    for number, arguments in enumerate(({"title": "x"}, "text", None, {"goal": "g-1", "title": "", "more": 1})):
        decision = propose(asking, {"verb": "todo add", "arguments": arguments, "number": number})
        with pytest.raises(UsageError):
            asking.answer(decision)


# -- grants ---------------------------------------------------------------------------------------------------------------


def test_a_covered_request_is_not_asked_again_and_its_receipt_names_the_grant(asking: Asking) -> None:
    grant = asking.kit.sign("grant add", kind="push", pattern="origin/loopx/*", uses=2)["grant"]
    for number in (1, 2):
        answer = asking.ask(f"Push {number}?", effect=push(f"loopx/{number}"))
        assert (answer["answer"], answer["grant"], answer["decision"]) == ("yes", grant, None)
        assert asking.kit.engine.ledger.last_receipts(limit=1)[0].grant == grant
        assert asking.kit.get(Effect, answer["effect"]).grant == grant
    assert asking.kit.engine.snapshot(asking.goal, asking.agent).grant_uses == {grant: 2}
    assert asking.ask("Push 3?", effect=push("loopx/3"))["decision"]
    assert asking.kit.get(Grant, grant).uses == 2


def test_an_expired_or_revoked_or_other_goals_grant_covers_nothing(asking: Asking) -> None:
    other = asking.kit.goal("Other", project="p-1")
    asking.kit.sign("grant add", kind="push", pattern="*", goal=other)
    assert asking.ask("one", effect=push())["decision"]
    grant = asking.kit.sign("grant add", kind="push", pattern="*", goal=asking.goal)["grant"]
    assert asking.ask("two", effect=push())["grant"] == grant
    asking.kit.sign("grant revoke", grant=grant)
    assert asking.ask("three", effect=push())["decision"]
    with pytest.raises(NotFound):
        asking.kit.sign("grant add", kind="push", pattern="*", goal="g-99")
    with pytest.raises(NotFound):
        asking.kit.sign("grant revoke", grant="gr-99")
    short = asking.kit.sign("grant add", kind="push", pattern="*", until=asking.kit.clock.now() + HOUR)["grant"]
    assert asking.ask("four", effect=push())["grant"] == short
    asking.kit.clock.advance(HOUR)
    assert asking.ask("five", effect=push())["decision"]


def test_a_grant_ends_in_the_future_and_has_uses(kit: Kit) -> None:
    made = kit.get(Grant, kit.sign("grant add", kind="push", pattern="*")["grant"])
    assert (made.uses, made.expires) == (GRANT_USES, kit.clock.now() + GRANT_EXPIRES_MS)
    for given in ({"until": 1}, {"until": kit.clock.now()}, {"until": -1}, {"uses": -1}):
        with pytest.raises(UsageError):
            kit.sign("grant add", kind="push", pattern="*", **given)


def test_a_denial_is_answered_at_once_and_beats_a_wider_grant(asking: Asking) -> None:
    asking.kit.sign("grant add", kind="push", pattern="origin/*")
    denial = asking.kit.sign("grant add", kind="push", pattern="origin/loopx/x", effect="deny")["grant"]
    assert asking.ask(effect=push()) == {"decision": None, "answer": "no", "rule": denial}
    assert asking.ask(effect=push("loopx/y"))["answer"] == "yes"
    asking.kit.sign("grant add", kind="push", pattern="origin/loopx/y", effect="ask")
    assert asking.ask(effect=push("loopx/y"))["decision"]


def test_from_now_on_an_answer_covers_what_it_was_about(asking: Asking) -> None:
    decision = asking.ask(effect=push())["decision"]
    name = asking.answer(decision, remember=True)["grant"]
    grant = asking.kit.get(Grant, name)
    assert (grant.kind, grant.pattern, grant.effect, grant.goal) == ("push", "origin/loopx/x", "allow", asking.goal)
    assert (grant.decision, grant.uses) == (decision, GRANT_USES)
    assert asking.ask("Again?", effect=push(sha="2" * 40))["grant"] == name
    assert asking.ask("Elsewhere?", effect=push("loopx/y"))["decision"]


def test_from_now_on_has_a_scope_an_end_and_a_number_of_uses(asking: Asking) -> None:
    decision = asking.ask(effect=push())["decision"]
    until = asking.kit.clock.now() + HOUR
    name = asking.answer(decision, remember=True, scope="origin/loopx/*", until=until, uses=1)["grant"]
    assert asking.ask("one", effect=push("loopx/y"))["grant"] == name
    assert asking.ask("two", effect=push("loopx/z"))["decision"]
    refused = asking.ask("three", effect=push("loopx/q"))["decision"]
    denial = asking.answer(refused, "no", remember=True)["grant"]
    assert asking.ask("four", effect=push("loopx/q"))["rule"] == denial


def test_only_an_answer_about_an_act_can_be_remembered(asking: Asking) -> None:
    decision = asking.ask()["decision"]
    with pytest.raises(UsageError):
        asking.answer(decision, remember=True)


def test_a_goal_is_closed_by_the_engine_only_under_a_grant(asking: Asking) -> None:
    goal = asking.kit.draft("Small", project="p-1")
    asking.kit.sign("goal resume", goal=goal)
    with pytest.raises(Refused) as caught:
        asking.kit.act("goal close", goal=goal)
    assert caught.value.code == "permission_missing"
    grant = asking.kit.sign("grant add", kind="close", pattern=goal)["grant"]
    answer = asking.kit.engine.run("goal close", {"goal": goal}, ENGINE)
    assert (answer.receipts[0].grant, asking.kit.get(Goal, goal).phase) == (grant, "done")


def test_no_request_ends_in_another_kind_of_error(asking: Asking) -> None:
    for effect in ({"action": "push", "remote": "origin", "ref": "x", "n": 1.5}, {"action": "push", "x": {"y": object()}},
                   {"action": "push", "ref": "\ud800"}, {1: 2}):  # fmt: skip
        with pytest.raises(LoopxError):
            asking.ask(effect=effect)
