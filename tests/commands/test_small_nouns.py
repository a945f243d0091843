"""Actors, projects, places, messages, handoffs, limits and leases: the short commands, each with what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import OWNER, Kit, kit

from loopx_engine.errors import LoopxError, NotFound, Refused, UsageError
from loopx_engine.model.actor import Actor
from loopx_engine.model.defaults import GRANT_EXPIRES_MS
from loopx_engine.model.handoff import Handoff
from loopx_engine.model.identity import Identity
from loopx_engine.model.lease import Lease
from loopx_engine.model.limit import Limit
from loopx_engine.model.message import Message
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn

__all__ = ["kit"]


def refused(kit: Kit, verb: str, code: str, error: type[LoopxError] = Refused, **given: Any) -> None:
    before = kit.seq()
    with pytest.raises(error) as caught:
        kit.sign(verb, **given)
    assert (verb, given, caught.value.code, kit.seq()) == (verb, given, code, before)


# -- actors ---------------------------------------------------------------------------------------------------------------


def test_an_agent_without_a_runtime_gets_a_token_once_and_one_with_a_runtime_none(kit: Kit) -> None:
    answer = kit.signed("actor add", {"name": "bot", "capability": ["plan"], "host": "here"})
    assert answer.reveal["token"].startswith("lxa_")
    assert "token" not in answer.answer
    bot = kit.get(Actor, answer.answer["actor"])
    assert (bot.name, bot.capabilities, bot.host, bot.token_hash != "") == ("bot", ("plan",), "here", True)
    ran = kit.signed(
        "actor add",
        {
            "name": "worker",
            "runtime": "command",
            "argv": ["python3", "agent.py"],
            "model": "m",
            "mode": "x",
            "account": "y",
        },
    )
    worker = kit.get(Actor, ran.answer["actor"])
    assert (ran.reveal, worker.token_hash, worker.argv, worker.account) == ({}, "", ("python3", "agent.py"), "y")


def test_an_agent_is_registered_with_words_that_fit(kit: Kit) -> None:
    kit.agent("bot")
    refused(kit, "actor add", "name_taken", name="bot")
    refused(kit, "actor add", "name_taken", name="ana")
    refused(kit, "actor add", "missing_argument", UsageError, name="worker", runtime="command")
    refused(kit, "actor add", "missing_argument", UsageError, name="worker", argv=["agent"])
    refused(kit, "actor add", "bad_choice", UsageError, name="worker", runtime="shell")
    refused(kit, "actor add", "bad_choice", UsageError, name="worker", kind="person")
    refused(kit, "actor add", "empty", UsageError, name=" ")
    refused(kit, "actor add", "too_long", UsageError, name="x" * 81)
    refused(kit, "actor add", "too_many", UsageError, name="worker", runtime="command", argv=["x"] * 201)


def test_a_retired_agent_takes_nothing_new_and_its_name_is_free(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    kit.todo(goal)
    kit.sign("actor retire", actor="bot")
    with pytest.raises(Refused):
        kit.begin(agent, goal=goal)
    refused(kit, "actor retire", "not_found", NotFound, actor="bot")
    refused(kit, "actor retire", "not_an_agent", actor="ana")
    refused(kit, "actor retire", "not_an_agent", actor="a-2")
    refused(kit, "goal edit", "not_an_agent", goal=goal, agent=[agent])
    assert kit.agent("bot") != agent


# -- projects and places --------------------------------------------------------------------------------------------------


def test_a_project_is_found_again_after_it_moved(kit: Kit) -> None:
    first = kit.say("project add", root="/one/app", identity="f" * 40, remotes=[["origin", "ssh://host/app"]])[
        "project"
    ]
    moved = kit.say("project add", root="/two/renamed/", identity="f" * 40)["project"]
    assert first == moved
    project = kit.get(Project, first)
    assert (project.root, project.name, project.remotes) == ("/two/renamed/", "renamed", ())
    same = kit.say("project add", root="/two/renamed/")["project"]
    assert (same, kit.get(Project, same).identity) == (first, "f" * 40)
    other = kit.say("project add", root="C:\\work\\app")["project"]
    assert (other != first, kit.get(Project, other).name) == (True, "app")
    assert kit.get(Project, str(kit.say("project add", root="/")["project"])).name == "/"
    for remotes in ([["origin"]], [["origin", 5]], ["origin"], [["origin", ["x"]]], [["a", "b", "c"]]):
        with pytest.raises(UsageError):
            kit.say("project add", root="/x", remotes=remotes)


def test_a_new_setup_prepares_broken_places_again(kit: Kit) -> None:
    goal = kit.goal()
    spare = kit.place(goal)
    kit.act("place settle", place=spare, state="broken", reason="no make")
    answer = kit.sign("project setup", project="p-1", argv=[["make", "setup"], ["make", "more"]])
    assert (answer["steps"], answer["places"]) == (2, [spare])
    assert kit.get(Project, "p-1").setup == (("make", "setup"), ("make", "more"))
    assert (kit.get(Place, spare).state, kit.get(Place, spare).reason, kit.get(Place, "pl-1").state) == (
        "new",
        "",
        "ready",
    )


def test_a_place_is_made_ready_or_broken_with_its_reason(kit: Kit) -> None:
    goal = kit.draft()
    place = kit.act("place make", goal=goal, kind="clone", path="/places/x", branch="loopx/g-1")["place"]
    assert (kit.get(Place, place).state, kit.get(Place, place).head) == ("new", "")
    kit.act("place settle", place=place, state="ready", sandbox="bubblewrap", base="b" * 40)
    ready = kit.get(Place, place)
    assert (ready.state, ready.base, ready.head, ready.sandbox) == ("ready", "b" * 40, "b" * 40, "bubblewrap")
    kit.act("place settle", place=place, state="broken", reason="it vanished")
    broken = kit.get(Place, place)
    assert (broken.reason, broken.sandbox, broken.base) == ("it vanished", "bubblewrap", "b" * 40)


def test_a_place_that_holds_work_is_never_dropped_unasked(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    todo = kit.todo(goal)
    who = kit.begin(agent, todo=todo)
    refused(kit, "place drop", "place_busy", place="pl-1")
    kit.act("turn end", turn=who.turn, result="progress", dirty=True)
    refused(kit, "place drop", "place_holds_work", place="pl-1")
    kit.say("place drop", place="pl-1", checked=True)
    refused(kit, "place retry", "bad_move", place="pl-1")


def test_work_set_aside_is_noted_on_its_todo(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    todo = kit.todo(goal)
    who = kit.begin(agent, todo=todo)
    kit.act("turn end", turn=who.turn, result="progress", dirty=True)
    kit.act("place set aside", place="pl-1", saved="refs/loopx/wip/u-1")
    assert (kit.get(Todo, todo).wip, kit.get(Place, "pl-1").state) == ("refs/loopx/wip/u-1", "dropped")
    spare = kit.place(goal)
    kit.act("place set aside", place=spare, saved="refs/loopx/wip/u-2")
    assert kit.get(Todo, todo).wip == "refs/loopx/wip/u-1"


# -- messages -------------------------------------------------------------------------------------------------------------


def test_a_message_is_from_whom_its_process_proved(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    who = kit.begin(agent, todo=kit.todo(goal))
    sent = [
        kit.say("message send", goal=goal, text="typed"),
        kit.sign("message send", goal=goal, text="signed", correction=True, to="bot"),
        kit.turn(who, "message send", goal=goal, text="I am the owner"),
        kit.act("message send", goal=goal, text="it stopped"),
    ]
    assert [item["origin"] for item in sent] == ["person, unverified", "person", "agent", "engine"]
    correction = kit.get(Message, sent[1]["message"])
    assert (correction.to, correction.correction, correction.state) == (agent, True, "stored")
    refused(kit, "message send", "not_found", NotFound, goal=goal, text="x", to="eve")


def test_a_message_is_consumed_by_whom_it_is_for(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    other = kit.agent("other")
    who = kit.begin(agent, todo=kit.todo(goal))
    mine = kit.say("message send", goal=goal, text="to all")["message"]
    theirs = kit.say("message send", goal=goal, text="to the other", to=other)["message"]
    kit.turn(who, "message consume", message=mine)
    assert kit.get(Message, mine).state == "consumed"
    with pytest.raises(Refused) as caught:
        kit.turn(who, "message consume", message=theirs)
    assert caught.value.code == "not_yours"
    kit.say("message consume", message=theirs)


def test_what_a_turn_was_handed_is_consumed_when_it_ends_well_and_comes_again_when_it_does_not(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    todo = kit.todo(goal)
    message = kit.say("message send", goal=goal, text="mind the tabs")["message"]
    for result, state in (("failed", "handed over"), ("interrupted", "handed over"), ("progress", "consumed")):
        who = kit.begin(agent, todo=todo)
        assert kit.get(Message, message).state == "handed over"
        kit.act("turn end", turn=who.turn, result=result)
        assert kit.get(Message, message).state == state
    second = kit.say("message send", goal=goal, text="and the spaces")["message"]
    who = kit.begin(agent, todo=todo)
    kit.turn(who, "message consume", message=second)
    kit.finish(who, "progress")
    kit.settle(who)
    assert kit.get(Message, second).state == "consumed"


# -- handoffs -------------------------------------------------------------------------------------------------------------


def offered(kit: Kit, **given: Any) -> tuple[str, str, str]:
    """(giver, todo, handoff)."""
    giver, goal = kit.agent("giver"), kit.goal()
    todo = kit.todo(goal)
    who = kit.begin(giver, todo=todo)
    evidence = kit.turn(who, "evidence add", turn=who.turn, kind="note", ref="look here")["evidence"]
    given = {"note": "half done", "evidence": [evidence], **given}
    return giver, todo, str(kit.turn(who, "handoff offer", turn=who.turn, **given)["handoff"])


def test_an_accepted_handoff_moves_the_lease_in_one_transaction(kit: Kit) -> None:
    taker = kit.agent("taker")
    _, todo, handoff = offered(kit, to="taker")
    assert (kit.get(Lease, todo).state, kit.get(Handoff, handoff).to) == ("free", taker)
    answer = kit.engine.run("handoff accept", {"handoff": handoff}, Identity(kind="agent", actor=taker))
    assert answer.reveal["token"].startswith("lxt_")
    assert kit.get(Handoff, handoff).state == "accepted"
    lease = kit.get(Lease, todo)
    assert (lease.actor, lease.turn, lease.epoch) == (taker, answer.answer["turn"], 2)
    assert kit.get(Turn, lease.turn).purpose == "work"


def test_a_handoff_is_for_another_agent_while_it_is_offered(kit: Kit) -> None:
    taker, third = kit.agent("taker"), kit.agent("third")
    giver, todo, handoff = offered(kit, to="taker")
    for who in (giver, third):
        for verb in ("handoff accept", "handoff decline"):
            with pytest.raises(Refused) as caught:
                kit.engine.run(verb, {"handoff": handoff}, Identity(kind="agent", actor=who))
            assert (verb, caught.value.code) == (verb, "not_yours")
    bot = Identity(kind="agent", actor=taker)
    ruling = kit.engine.verdict(kit.get(Todo, todo).goal, taker)
    assert (ruling.kind, ruling.reason) == ("answer", "handoff_offered")
    assert kit.engine.run("handoff decline", {"handoff": handoff}, bot).answer["state"] == "declined"
    with pytest.raises(Refused) as declined:
        kit.engine.run("handoff accept", {"handoff": handoff}, bot)
    assert declined.value.code == "not_offered"


def test_an_offer_runs_out(kit: Kit) -> None:
    taker = kit.agent("taker")
    _, _, handoff = offered(kit)
    kit.clock.advance(GRANT_EXPIRES_MS)
    with pytest.raises(Refused) as caught:
        kit.engine.run("handoff accept", {"handoff": handoff}, Identity(kind="agent", actor=taker))
    assert caught.value.code == "not_offered"


def test_an_offer_names_an_agent_and_evidence_that_are_there(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    other = kit.goal("Other", project="p-1")
    far = kit.begin(kit.agent("far"), todo=kit.todo(other))
    strange = kit.turn(far, "evidence add", turn=far.turn, kind="note", ref="x")["evidence"]
    who = kit.begin(agent, todo=kit.todo(goal))
    for given, error, code in (
        ({"to": "ana"}, Refused, "not_an_agent"),
        ({"to": "bot"}, Refused, "to_yourself"),
        ({"to": "eve"}, NotFound, "not_found"),
        ({"evidence": ["e-99"]}, NotFound, "not_found"),
        ({"evidence": [strange]}, UsageError, "other_goal"),
        ({"note": " "}, UsageError, "empty"),
    ):
        with pytest.raises(error) as caught:
            kit.turn(who, "handoff offer", **{"turn": who.turn, "note": "half done", **given})
        assert (given, caught.value.code) == (given, code)


# -- limits ---------------------------------------------------------------------------------------------------------------


def test_a_limit_is_set_probed_ended_and_set_again(kit: Kit) -> None:
    agent = kit.agent()
    assert kit.act("limit set", actor=agent, until=0) == {"actor": agent, "until": None}
    for probes in (0, 1, 2):
        kit.act("limit set", actor=agent, until=kit.clock.now() + 10, source="429")
        assert (kit.get(Limit, agent).probes, kit.get(Limit, agent).state) == (probes, "waiting")
    for _ in range(2):
        kit.act("limit set", actor=agent, until=0)
        assert kit.get(Limit, agent).state == "ended"
    kit.act("limit set", actor=agent, until=kit.clock.now() + 10, source="429")
    assert kit.get(Limit, agent).probes == 0
    with pytest.raises(NotFound):
        kit.act("limit set", actor="a-99", until=1)


def test_a_lease_that_nobody_holds_is_not_taken(kit: Kit) -> None:
    todo = kit.todo(kit.goal())
    refused(kit, "lease take", "not_held", todo=todo)
    refused(kit, "lease take", "not_found", NotFound, todo="t-99")


def test_a_released_lease_leaves_the_work_in_its_place(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    todo = kit.todo(goal)
    who = kit.begin(agent, todo=todo)
    answer = kit.turn(who, "lease release", turn=who.turn)
    assert (answer["result"], kit.get(Lease, todo).state, kit.get(Place, "pl-1").holds) == ("progress", "free", todo)


def test_the_owner_is_entered_once(kit: Kit) -> None:
    with pytest.raises(Refused) as caught:
        kit.act("ledger found", name="eve", host="there")
    assert caught.value.code == "owner_exists"
    assert [(item.name, item.role) for item in kit.all(Actor)] == [("ana", "owner"), ("engine", "")]
    assert kit.engine.identify(None) == OWNER
