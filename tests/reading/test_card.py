"""`card`: the goal, who acts next, its rules, what was spent, criteria, open questions, turns and story; damage costs a part."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import OWNER, Kit, kit  # noqa: F401
from reading.scene import BAD_TEXT, PUSH, poison, read

from loopx_engine.errors import LedgerUnusable, NotFound, Refused, UsageError
from loopx_engine.model.defaults import DAY, HOUR, LEASE_MS
from loopx_engine.model.identity import Identity

KEYS = {
    "goal", "word", "project", "names", "verdict", "rules", "spent", "criteria", "counts", "decisions", "live", "history",
    "places", "grants", "next_wake",
}  # fmt: skip


def card(kit: Kit, goal: str = "g-1", who: Identity = OWNER) -> dict[str, Any]:
    found = read(kit, "card", who, goal=goal)
    assert set(found) == KEYS
    return found


def test_a_new_goal_has_a_card(kit: Kit) -> None:
    found = card(kit, kit.draft("Fix it"))
    assert found["goal"]["title"] == "Fix it"
    assert (found["word"], found["next_wake"]) == ("DRAFT", None)
    assert found["project"] == {"id": "p-1", "name": "project", "root": "/project"}
    assert found["names"] == {"a-1": "ana"}
    assert found["counts"] == {"todos": 0, "done": 0, "proved": 0, "open": 0}
    assert found["spent"] == {"turns": 0, "days_ms": 0, "input_tokens": None, "output_tokens": None, "cost": None}
    assert [found[name] for name in ("criteria", "decisions", "live", "places", "grants")] == [[], [], [], [], []]
    assert [item["text"] for item in found["history"]] == ["added by you: Fix it"]


def test_there_must_be_such_a_goal(kit: Kit) -> None:
    with pytest.raises(NotFound):
        read(kit, "card", goal="g-9")
    with pytest.raises(UsageError):
        read(kit, "card", goal="t-9")


def test_an_agent_reads_the_card_of_its_own_goal(kit: Kit) -> None:
    kit.agent("ada")
    kit.agent("bob")
    kit.draft(agent=["bob"])
    with pytest.raises(Refused):
        card(kit, who=Identity(kind="agent", actor="a-3"))
    assert card(kit, who=Identity(kind="agent", actor="a-4"))["goal"]["id"] == "g-1"


def test_the_verdict_is_the_first_agents(kit: Kit) -> None:
    kit.agent("ada")
    kit.agent("bob")
    kit.todo(kit.goal(agent=["bob", "ada"]))
    verdict = card(kit)["verdict"]
    assert set(verdict) == {"kind", "reason", "text", "todo", "decision", "actions", "next_look"}
    assert (verdict["kind"], verdict["todo"], verdict["actions"]) == ("work", "t-1", ["turn begin g-1 --todo t-1"])
    kit.begin("a-4")
    assert card(kit)["verdict"]["reason"] == "turn_open"


def test_the_verdict_of_a_goal_for_anyone_is_the_first_agent_there_is(kit: Kit) -> None:
    kit.todo(kit.goal())
    assert card(kit)["verdict"]["kind"] == "wait", "a person works on nothing"
    kit.agent("ada")
    assert card(kit)["verdict"]["kind"] == "work"


# -- rules ----------------------------------------------------------------------------------------------------------------


def test_rules_are_one_line(kit: Kit) -> None:
    goal = kit.draft(autonomy="unattended")
    assert card(kit)["rules"] == "unattended · network yes · push asks"
    kit.sign("goal edit", goal=goal, network=False)
    assert card(kit)["rules"] == "unattended · network asks · push asks"
    kit.sign("goal edit", goal=goal, network=True, autonomy="careful")
    assert card(kit)["rules"] == "careful · network asks · push asks"


def test_grants_in_force_stand_in_the_rules(kit: Kit) -> None:
    goal = kit.draft()
    other = kit.draft()
    kit.sign("grant add", kind="push", pattern="origin/preview/*", goal=goal)
    kit.sign("grant add", kind="exec", pattern="npm *", effect="deny")
    kit.sign("grant add", kind="merge", pattern="main", goal=other)
    kit.sign("grant add", kind="write", pattern="/tmp/x", until=kit.clock.now() + 5)
    found = card(kit, goal)
    assert found["rules"] == (
        "normal · network yes · push origin/preview/* allowed · exec npm * denied · write /tmp/x allowed"
    )
    assert [item["id"] for item in found["grants"]] == ["gr-1", "gr-2", "gr-4"]
    kit.clock.advance(5)
    assert "write" not in card(kit, goal)["rules"]
    kit.sign("grant add", kind="read", pattern="a", effect="ask")
    kit.sign("grant add", kind="read", pattern="b")
    assert card(kit, goal)["rules"].endswith("denied · read a asks · 1 more")
    kit.sign("grant revoke", grant="gr-1")
    assert "push asks" in card(kit, goal)["rules"]


def test_a_grant_that_nobody_signed_is_no_rule(kit: Kit) -> None:
    kit.draft()
    kit.sign("grant add", kind="push", pattern="origin/x", goal="g-1")
    kit.tamper("update \"grant\" set pattern = 'origin/*'")
    assert card(kit)["rules"] == "normal · network yes · push asks"


# -- spent ----------------------------------------------------------------------------------------------------------------


def test_spent_counts_what_was_reported_and_invents_nothing(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal)
    kit.clock.advance(DAY)
    who = kit.begin(kit.agent())
    assert card(kit)["spent"] == {
        "turns": 1, "days_ms": DAY, "input_tokens": None, "output_tokens": None, "cost": None,
    }  # fmt: skip
    kit.act("turn usage", turn=who.turn, input=1000, output=20, cost=5)
    assert card(kit)["spent"] == {"turns": 1, "days_ms": DAY, "input_tokens": 1000, "output_tokens": 20, "cost": 5}
    kit.turn(who, "turn abandon", turn=who.turn)
    again = kit.begin("a-3")
    kit.act("turn usage", turn=again.turn, input=1)
    spent = card(kit)["spent"]
    assert (spent["turns"], spent["input_tokens"], spent["output_tokens"]) == (2, 1001, 20)


def test_a_closed_goal_spends_no_more_days(kit: Kit) -> None:
    goal = kit.goal()
    kit.clock.advance(HOUR)
    kit.sign("goal close", goal=goal)
    kit.clock.advance(DAY)
    assert card(kit)["spent"]["days_ms"] == HOUR


# -- criteria and counts ----------------------------------------------------------------------------------------------------


def test_criteria_stand_in_order_with_their_check_and_evidence(kit: Kit) -> None:
    goal = kit.goal(criterion=[["runs", ["pytest", "-q"]], ["reads well", []]])
    kit.act("criterion prove", criterion="c-1", outcome="fail", exit=1, tail="no")
    first, second = card(kit, goal)["criteria"]
    assert (first["number"], first["argv"], first["state"]) == (1, ["pytest", "-q"], "open")
    assert (first["evidence"]["id"], first["evidence"]["outcome"]) == ("e-1", "fail")
    assert (second["argv"], second["evidence"]) == (None, None)


def test_counts_leave_dropped_todos_out_and_tell_proved_from_done(kit: Kit) -> None:
    goal = kit.goal()
    one, two, three = kit.todo(goal, check=["true"]), kit.todo(goal), kit.todo(goal)
    kit.todo(goal)
    kit.say("todo drop", todo=three)
    kit.done(kit.agent(), one, outcome="pass", check="k-1")
    kit.done("a-3", two)
    assert card(kit)["counts"] == {"todos": 3, "done": 2, "proved": 1, "open": 1}
    kit.say("todo reopen", todo=one)
    assert card(kit)["counts"] == {"todos": 3, "done": 1, "proved": 0, "open": 2}


# -- questions, turns, wake -----------------------------------------------------------------------------------------------


def test_open_questions_oldest_first_and_those_put_off_last(kit: Kit) -> None:
    goal = kit.draft()
    for question in ("One", "Two", "Three", "Four"):
        kit.say("decision ask", goal=goal, question=question)
        kit.clock.advance(1)
    kit.say("decision snooze", decision="d-1", hours=1)
    kit.say("decision withdraw", decision="d-3")
    found = card(kit)
    assert [item["question"] for item in found["decisions"]] == ["Two", "Four", "One"]
    assert found["decisions"][0]["asked_by_name"] == "ana"


def test_a_live_turn_says_all_a_screen_draws_of_it(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal, "Rank")
    who = kit.begin(kit.agent("ada"))
    kit.act("turn start", turn=who.turn, pid=7, started="x", sandbox="bwrap", transcript="/t/u-1")
    now = kit.clock.now()
    assert card(kit)["live"] == [
        {
            "turn": "u-1", "actor": "a-3", "actor_name": "ada", "todo": "t-1", "todo_title": "Rank", "state": "running",
            "purpose": "work", "begun_at": now, "deadline": now + HOUR, "lease_expires": now + HOUR, "lease_length_ms": HOUR,
            "transcript": "/t/u-1", "sandbox": "bwrap",
        }
    ]  # fmt: skip
    assert card(kit)["names"] == {"a-1": "ana", "a-3": "ada"}
    kit.finish(who)
    assert card(kit)["live"][0]["state"] == "proving"


def test_a_watched_turn_has_the_lease_an_engine_renews(kit: Kit) -> None:
    kit.todo(kit.goal())
    kit.begin(kit.agent(), attended=True)
    turn = card(kit)["live"][0]
    assert turn["lease_length_ms"] == LEASE_MS
    assert turn["lease_expires"] == kit.clock.now() + LEASE_MS


def test_a_turn_that_lost_its_lease_holds_none(kit: Kit) -> None:
    kit.todo(kit.goal())
    kit.begin(kit.agent())
    kit.tamper("update lease set turn = 'u-7'")
    assert card(kit)["live"][0]["lease_expires"] is None


def test_a_planning_turn_holds_the_goal(kit: Kit) -> None:
    kit.begin(kit.agent(capability=["plan"]), goal=kit.draft())
    turn = card(kit)["live"][0]
    assert (turn["todo"], turn["todo_title"], turn["purpose"]) == (None, "", "plan")
    assert turn["lease_expires"]


def test_the_next_wake_is_a_number(kit: Kit) -> None:
    kit.goal()
    assert card(kit)["next_wake"] == kit.clock.now()


# -- story ----------------------------------------------------------------------------------------------------------------


def test_history_is_the_newest_twenty_that_move_the_story(kit: Kit) -> None:
    goal = kit.goal()
    for number in range(25):
        kit.todo(goal, f"Todo {number}")
        kit.act("wake set", goal=goal, due=kit.clock.now() + number, pace="idle", cause="x", verdict="y", repeats=0)
    found = card(kit)["history"]
    assert len(found) == 20
    assert found[0]["text"] == "t-25 added by you: Todo 24"
    assert set(found[0]) == {"receipt", "at", "text", "voice"}
    numbers = [int(item["receipt"][2:]) for item in found]
    assert numbers == sorted(numbers, reverse=True)


def test_a_story_under_many_silent_receipts_is_still_told(kit: Kit) -> None:
    goal = kit.goal()
    for number in range(120):
        kit.act("wake set", goal=goal, due=kit.clock.now() + number, pace="idle", cause="x", verdict="y", repeats=0)
    assert card(kit)["history"][0]["text"] == "place pl-1 is ready"


# -- poison ---------------------------------------------------------------------------------------------------------------


def test_a_poisoned_part_is_one_row_of_the_card(kit: Kit) -> None:
    goal = kit.goal(criterion=[["one", ["true"]], ["two", []]])
    kit.todo(goal)
    kit.begin(kit.agent("ada"))
    for question in ("One", "Two"):
        kit.say("decision ask", goal=goal, question=question)
    kit.sign("grant add", kind="push", pattern="origin/x")
    poison(kit, "criterion", "c-1", "state", "'odd'")
    poison(kit, "decision", "d-1", "options", "'['")
    poison(kit, "place", "pl-1", "kind", "'cloud'")
    poison(kit, "grant", "gr-1", "effect", "'maybe'")
    poison(kit, "project", "p-1", "setup", "'['")
    poison(kit, "turn", "u-1", "claim", "'['")
    found = card(kit)
    assert found["criteria"][0] == {"id": "c-1", "poisoned": "its state 'odd' is none that is known"}
    assert found["criteria"][1]["text"] == "two"
    assert [set(item) == {"id", "poisoned"} for item in found["decisions"]] == [True, False]
    assert found["places"][0]["id"] == "pl-1"
    assert "poisoned" in found["places"][0]
    assert "poisoned" in found["grants"][0]
    assert found["rules"] == "normal · network yes · push asks"
    assert found["project"] == {"id": "p-1", "name": "p-1", "root": ""}
    assert found["live"][0]["turn"] == "u-1"
    assert found["verdict"]["kind"] == "error"
    assert found["verdict"]["actions"] == ["verify"]


def test_damaged_agents_leave_a_card(kit: Kit) -> None:
    kit.agent("ada")
    kit.todo(kit.goal())
    poison(kit, "actor", "a-3", "argv", "'['")
    assert card(kit)["counts"]["todos"] == 1


def test_a_receipt_that_cannot_be_read_is_one_line_of_the_story(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal, "One")
    kit.todo(goal, "Two")
    seq = kit.seq()
    kit.tamper("update payload set body = '[' where seq = :seq", seq=seq)
    kit.tamper("update payload set body = 'redacted' where seq = :seq", seq=seq - 1)
    found = card(kit)["history"]
    assert (found[0]["receipt"], found[0]["text"], found[0]["voice"]) == (f"r-{seq}", f"r-{seq} cannot be read", "bad")
    assert (found[1]["text"], found[1]["voice"]) == ("todo add: what it said was removed", "soft")
    assert found[0]["at"] == kit.clock.now()


@pytest.mark.parametrize(("field", "sql"), [("phase", "'odd'"), ("agents", "'['"), ("title", BAD_TEXT)])
def test_a_goal_that_cannot_be_read_has_no_card_and_says_why(kit: Kit, field: str, sql: str) -> None:
    kit.draft()
    poison(kit, "goal", "g-1", field, sql)
    with pytest.raises(LedgerUnusable, match="g-1 is damaged"):
        read(kit, "card", goal="g-1")


def test_an_archived_goal_has_its_word(kit: Kit) -> None:
    kit.sign("goal archive", goal=kit.draft())
    assert card(kit)["word"] == "ARCH"


def test_a_push_that_was_asked_for_is_among_the_questions(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal)
    kit.turn(kit.begin(kit.agent()), "decision ask", goal=goal, question="push it?", effect=PUSH)
    assert card(kit)["decisions"][0]["risk"] == "high"
