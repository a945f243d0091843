"""Who may say what, for every verb of the table: an agent only its own, a person not from inside a turn, the engine its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engine_kit import ENGINE, OWNER, Kit, kit

from loopx_engine.commands.fields import build
from loopx_engine.commands.verbs import TABLE, VERBS, authority_of, verb_of
from loopx_engine.consent.authority import ENGINE_ALSO
from loopx_engine.errors import NotFound, Refused, UsageError
from loopx_engine.model.actor import Actor
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.identity import Identity

__all__ = ["kit"]

HASH = "1" * 40


class Stage:
    """A house in which every verb of the table has something to act on, and arguments that would do."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self.agent = kit.agent()
        self.other = kit.agent("other")
        self.goal = kit.goal(criterion=(("it works", ("make", "test")), ("it is nice", ())))
        self.todo = kit.todo(self.goal)
        self.next = kit.todo(self.goal, "Then this")
        self.finished = kit.todo(self.goal, "Done before", wait="at:1")
        kit.say("todo drop", todo=self.finished)
        self.turn = kit.begin(self.agent, todo=self.todo)
        effect = {
            "action": "push",
            "remote": "origin",
            "ref": "loopx/x",
            "sha": HASH,
            "remote_has": "",
            "protected": [],
        }
        asked = kit.turn(self.turn, "decision ask", goal=self.goal, question="Push?", effect=effect)
        self.decision, self.basis = str(asked["decision"]), str(asked["basis"])
        self.grant = str(kit.sign("grant add", kind="merge", pattern="main")["grant"])
        granted = kit.turn(
            self.turn, "decision ask", goal=self.goal, question="Merge?", effect={"action": "merge", "into": "main"}
        )
        self.effect = str(granted["effect"])
        self.receipt = kit.engine.run("todo add", {"goal": self.goal, "title": "undo me"}, OWNER).receipts[0].id
        self.message = str(kit.say("message send", goal=self.goal, text="hello")["message"])
        giver = kit.begin(self.other, goal=self.offered_goal())
        self.handoff = str(kit.turn(giver, "handoff offer", turn=giver.turn, note="half done")["handoff"])
        self.check = str(kit.all(Criterion)[0].check)

    def offered_goal(self) -> str:
        goal = self.kit.goal("Another", project="p-1", agent=("other",))
        self.kit.todo(goal)
        return goal

    def arguments(self) -> dict[str, dict[str, Any]]:
        """Verb -> arguments with which the right speaker would be heard."""
        goal, todo, turn, place, check, agent = self.goal, self.todo, self.turn.turn, "pl-1", self.check, self.agent
        return {
            "owner init": {"public_key": self.kit.public},
            "owner rotate": {"public_key": self.kit.public},
            "actor add": {"name": "third"},
            "actor retire": {"actor": self.other},
            "project add": {"root": "/elsewhere"},
            "project setup": {"project": "p-1", "argv": [["make", "setup"]]},
            "goal add": {"title": "More", "project": "p-1"},
            "goal edit": {"goal": goal, "title": "Other words"},
            "goal pause": {"goal": goal},
            "goal resume": {"goal": goal},
            "goal close": {"goal": goal},
            "goal reopen": {"goal": goal},
            "goal archive": {"goal": goal},
            "criterion add": {"goal": goal, "text": "it is fast"},
            "criterion waive": {"criterion": "c-1", "reason": "no"},
            "criterion meet": {"criterion": "c-2", "reason": "seen"},
            "check set": {"subject": todo, "argv": ["true"]},
            "todo add": {"goal": goal, "title": "More"},
            "todo edit": {"todo": todo, "title": "Other words"},
            "todo order": {"todo": self.next, "before": todo},
            "todo split": {"todo": self.next, "into": ["one", "two"]},
            "todo drop": {"todo": self.next},
            "todo reopen": {"todo": self.finished},
            "turn begin": {"goal": goal},
            "turn extend": {"turn": turn},
            "turn finish": {"turn": turn, "outcome": "done"},
            "turn abandon": {"turn": turn},
            "decision ask": {"goal": goal, "question": "Which?"},
            "decision propose": {"goal": goal, "question": "This?", "commands": []},
            "decision withdraw": {"decision": self.decision},
            "decision snooze": {"decision": self.decision},
            "decision answer": {"decision": self.decision, "option": "yes", "basis": self.basis},
            "grant add": {"kind": "push", "pattern": "*"},
            "grant revoke": {"grant": self.grant},
            "evidence add": {"turn": turn, "kind": "note", "ref": "seen"},
            "message send": {"goal": goal, "text": "hello"},
            "message consume": {"message": self.message},
            "handoff offer": {"turn": turn, "note": "half done"},
            "handoff accept": {"handoff": self.handoff},
            "handoff decline": {"handoff": self.handoff},
            "lease release": {"turn": turn},
            "lease take": {"todo": todo},
            "place drop": {"place": place},
            "place retry": {"place": place},
            "stop": {"goal": goal},
            "undo": {"receipt": self.receipt},
            "ledger found": {"name": "eve"},
            "turn start": {"turn": turn, "pid": 1, "started": "1/x", "sandbox": "none"},
            "turn usage": {"turn": turn, "input": 1},
            "turn settle": {"turn": turn},
            "turn end": {"turn": turn, "result": "progress"},
            "turn lose": {"turn": turn, "reason": "gone"},
            "todo ready": {"todo": todo},
            "criterion prove": {"criterion": "c-1", "outcome": "pass"},
            "review settle": {"todo": "t-1", "decision": "d-1"},
            "check baseline": {"check": check, "baseline": "red"},
            "decision expire": {"decision": self.decision},
            "decision settle": {"decision": self.decision, "state": "void", "outcome": "moved"},
            "place make": {"goal": goal, "kind": "worktree", "path": "/x", "branch": "loopx/x"},
            "place settle": {"place": place, "state": "broken", "reason": "no"},
            "place set aside": {"place": place, "saved": "refs/loopx/wip/u-1"},
            "effect attempt": {"effect": self.effect},
            "effect settle": {"effect": self.effect, "state": "done"},
            "wake set": {"goal": goal, "due": 1, "pace": "work"},
            "limit set": {"actor": agent, "until": 1},
        }  # fmt: skip

    def refused(self, verb: str, who: Identity, code: str, **more: Any) -> None:
        """The verb is refused to this speaker, and nothing is written."""
        before = self.kit.seq()
        with pytest.raises(Refused) as caught:
            self.kit.engine.run(verb, {**self.arguments()[verb], **more}, who)
        assert (verb, caught.value.code) == (verb, code)
        assert self.kit.seq() == before


@pytest.fixture
def stage(kit: Kit) -> Stage:
    return Stage(kit)


def named(authority: set[str]) -> list[str]:
    return [verb.name for verb in TABLE if authority & set(verb.authority)]


def test_the_stage_has_arguments_for_every_verb_of_the_table(stage: Stage) -> None:
    given = stage.arguments()
    assert set(given) == set(VERBS)
    for name, arguments in given.items():
        build(verb_of(name).load(), arguments)


def test_with_an_agents_turn_token_every_verb_of_persons_and_of_the_engine_is_refused(stage: Stage) -> None:
    for verb in TABLE:
        if "agent" not in verb.authority:
            stage.refused(verb.name, stage.turn, "not_for_agents")


def test_with_an_agents_actor_token_every_verb_of_persons_and_of_the_engine_is_refused(stage: Stage) -> None:
    who = Identity(kind="agent", actor=stage.agent)
    for verb in TABLE:
        if "agent" not in verb.authority:
            stage.refused(verb.name, who, "not_for_agents")
        elif not verb.token:
            stage.refused(verb.name, who, "no_turn")


def test_what_only_the_key_may_say_is_refused_to_an_agent_in_any_form(stage: Stage) -> None:
    with pytest.raises(UsageError, match="signed word"):
        stage.kit.turn(stage.turn, "message send", goal=stage.goal, text="do it", correction=True)
    proof = stage.kit.proof("grant add", {"kind": "push", "pattern": "*"}, "cmd")
    with pytest.raises(UsageError) as caught:
        stage.kit.engine.run("grant add", {"kind": "push", "pattern": "*"}, stage.turn, command_id="cmd", proof=proof)
    assert caught.value.code == "bad_proof"


def test_an_unsigned_person_is_refused_every_signed_verb(stage: Stage) -> None:
    for name in named({"signed"}):
        stage.refused(name, OWNER, "not_signed")


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        ("goal add", {"check": ["true"]}),
        ("goal add", {"criterion": [["it works", ["true"]]]}),
        ("goal add", {"agent": ["bot"]}),
        ("goal add", {"reviewer": ["bot"]}),
        ("goal add", {"budget": "turns=5"}),
        ("goal add", {"autonomy": "unattended"}),
        ("goal edit", {"agent": []}),
        ("goal edit", {"reviewer": ["bot"]}),
        ("goal edit", {"autonomy": "careful"}),
        ("goal edit", {"budget": "turns=5"}),
        ("goal edit", {"network": True}),
        ("todo add", {"check": ["true"]}),
        ("message send", {"correction": True}),
    ],
)
def test_an_option_that_needs_the_key_makes_a_persons_verb_a_signed_one(
    stage: Stage, verb: str, more: dict[str, Any]
) -> None:
    stage.refused(verb, OWNER, "not_signed", **more)
    row = verb_of(verb)
    assert "signed" in authority_of(row, build(row.load(), {**stage.arguments()[verb], **more}))
    assert "signed" not in authority_of(row, build(row.load(), stage.arguments()[verb]))


def test_from_inside_a_turn_a_person_is_refused_everything_a_person_may_say(stage: Stage) -> None:
    inside = replace(OWNER, ancestor="u-1")
    for name in named({"person", "signed"}):
        stage.refused(name, inside, "inside_turn")


def test_a_persons_signature_does_not_help_from_inside_a_turn(stage: Stage) -> None:
    arguments = {"kind": "push", "pattern": "*"}
    proof = stage.kit.proof("grant add", arguments, "cmd")
    with pytest.raises(Refused) as caught:
        stage.kit.engine.run("grant add", arguments, replace(OWNER, ancestor="u-1"), command_id="cmd", proof=proof)
    assert caught.value.code == "inside_turn"


def test_a_person_is_refused_what_only_agents_and_the_engine_say(stage: Stage) -> None:
    for verb in TABLE:
        if not {"person", "signed"} & set(verb.authority):
            stage.refused(verb.name, OWNER, "not_for_persons")


def test_the_engine_may_say_its_own_verbs_and_the_few_it_also_needs(stage: Stage) -> None:
    for verb in TABLE:
        if "engine" not in verb.authority and verb.name not in ENGINE_ALSO:
            stage.refused(verb.name, ENGINE, "not_for_engine")


def test_nobody_may_preview_what_he_may_not_say(stage: Stage) -> None:
    for who in (stage.turn, replace(OWNER, ancestor="u-1"), ENGINE):
        with pytest.raises(Refused):
            stage.kit.engine.preview("grant add", {"kind": "push", "pattern": "*"}, who)


def test_a_person_of_a_lesser_role_is_refused_what_needs_a_greater_one(stage: Stage) -> None:
    for role, allowed in (("observer", False), ("operator", True), ("decider", True)):
        stage.kit.tamper("update actor set role = :role where id = 'a-1'", role=role)
        if allowed:
            stage.kit.say("message send", goal=stage.goal, text=f"hello from an {role}")
        else:
            stage.refused("message send", OWNER, "role")
        stage.refused("goal resume", OWNER, "role")
    stage.kit.tamper("update actor set role = '' where id = 'a-1'")
    stage.refused("message send", OWNER, "role")


def test_a_person_who_is_not_in_the_ledger_is_told_how_to_begin(stage: Stage) -> None:
    with pytest.raises(NotFound) as caught:
        stage.kit.engine.run("goal pause", {"goal": stage.goal}, replace(OWNER, actor="a-99"))
    assert (caught.value.code, caught.value.next) == ("no_owner", "loopx owner init")


def test_a_retired_agent_is_refused_also_in_the_turn_it_still_has(stage: Stage) -> None:
    stage.kit.sign("actor retire", actor=stage.agent)
    stage.refused("turn finish", stage.turn, "retired")
    stage.refused("turn begin", Identity(kind="agent", actor="a-99"), "retired")


def test_a_turn_that_ended_says_nothing_more(stage: Stage) -> None:
    stage.kit.turn(stage.turn, "turn abandon", turn=stage.turn.turn)
    stage.refused("message send", stage.turn, "turn_ended")
    stage.refused("message send", replace(stage.turn, turn="u-99"), "turn_ended")


def test_an_agents_changes_end_at_its_goal(stage: Stage) -> None:
    other = stage.kit.goal("Far away", project="p-1")
    todo = stage.kit.todo(other)
    for verb, given in (
        ("todo add", {"goal": other, "title": "mine"}),
        ("message send", {"goal": other, "text": "hello"}),
        ("decision ask", {"goal": other, "question": "which?"}),
        ("turn begin", {"goal": other, "todo": todo}),
    ):
        before = stage.kit.seq()
        with pytest.raises(Refused) as caught:
            stage.kit.turn(stage.turn, verb, **given)
        assert (verb, caught.value.code, stage.kit.seq()) == (verb, "other_goal", before)


def test_a_token_is_that_agent_and_nothing_else(stage: Stage) -> None:
    kit = stage.kit
    token = kit.signed("actor add", {"name": "third"}).reveal["token"]
    third = kit.engine.identify(token)
    assert (third.kind, third.goal, third.turn, third.person) == ("agent", None, None, False)
    kit.turn(stage.turn, "turn abandon", turn=stage.turn.turn)
    begun = kit.engine.run("turn begin", {"goal": stage.goal}, third)
    who = kit.engine.identify(begun.reveal["token"])
    assert (who.kind, who.actor, who.goal, who.turn) == ("agent", third.actor, stage.goal, begun.answer["turn"])
    assert not any(word.startswith(("lxa_", "lxt_")) for word in str(kit.engine.ledger.last_receipts()).split("'"))
    given = {"turn": who.turn}
    first = kit.engine.run("turn abandon", given, who, command_id="leave")
    over = kit.engine.identify(begun.reveal["token"])
    assert over.ended
    assert kit.engine.run("turn abandon", given, over, command_id="leave").answer == first.answer, (
        "a repeat learns what it came to"
    )
    with pytest.raises(Refused, match="ended"):
        kit.engine.run("turn abandon", given, over)
    for wrong in ("lxa_" + "x" * 43, "lxa_short", "lxz_" + "x" * 43):
        with pytest.raises(Refused, match="token"):
            kit.engine.identify(wrong)
    kit.sign("actor retire", actor=third.actor)
    with pytest.raises(Refused):
        kit.engine.identify(token)
    assert kit.get(Actor, third.actor).token_hash == ""


def test_without_a_token_a_process_is_the_owners_person(kit: Kit) -> None:
    who = kit.engine.identify(None, ancestor="u-7")
    assert (who.kind, who.actor, who.role, who.ancestor, who.verified) == ("person", "a-1", "owner", "u-7", False)
    assert kit.engine.engine_identity() == ENGINE
