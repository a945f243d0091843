"""`inbox`: what each row says beside the decision, the order, what was answered today, findings, and poisoned rows."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import OWNER, Kit, kit  # noqa: F401
from reading.scene import BAD_TEXT, PUSH, poison, read

from loopx_engine.contracts.cli_json import model_of
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import DAY, HOUR
from loopx_engine.model.identity import Identity


def inbox(kit: Kit, who: Identity = OWNER, **given: Any) -> dict[str, Any]:
    """The inbox, which must be what is published."""
    import json

    found = read(kit, "inbox", who, **given)
    model_of("inbox").model_validate_json(json.dumps({"schema": "loopx.inbox/1", **found}))
    return found


def ask(kit: Kit, goal: str, question: str = "Which?", **given: Any) -> str:
    return str(kit.say("decision ask", goal=goal, question=question, **given)["decision"])


def answer(kit: Kit, name: str, option: str = "yes", **given: Any) -> None:
    kit.sign("decision answer", decision=name, option=option, basis=kit.get(Decision, name).basis, **given)


def test_nothing_waits(kit: Kit) -> None:
    assert inbox(kit) == {"items": [], "findings": [], "answered": [], "total": 0}


def test_a_row_says_what_it_is_about_in_words(kit: Kit) -> None:
    goal = kit.goal("Shop")
    kit.todo(goal, "Rank")
    kit.todo(goal, "Release")
    who = kit.begin(kit.agent("ada"), todo="t-1")
    kit.turn(who, "decision ask", goal=goal, question="Which?", blocks=["t-1"])
    ask(kit, goal, "And?", blocks=["t-1", "t-2"])
    second, first = inbox(kit)["items"]
    assert (first["asked_by_name"], first["goal_title"], first["blocks_titles"], first["waiting"]) == (
        "ada", "Shop", ["Rank"], True,
    )  # fmt: skip
    assert (second["asked_by_name"], second["blocks_titles"], second["waiting"]) == ("ana", ["Rank", "Release"], False)
    kit.turn(who, "turn abandon", turn=who.turn)
    assert [item["waiting"] for item in inbox(kit)["items"]] == [False, False]


def test_own_project_then_risk_then_what_blocks_most_then_the_oldest(kit: Kit) -> None:
    here = kit.draft(project=kit.project("/here", identity="1" * 40))
    away = kit.draft(project=kit.project("/away", identity="2" * 40))
    kit.todo(here)
    kit.todo(here)
    given: list[tuple[str, str, dict[str, Any]]] = [
        (away, "away, low", {}),
        (away, "away, high", {"risk": "high"}),
        (here, "low, old", {}),
        (here, "low, blocks one", {"blocks": ["t-1"]}),
        (here, "low, blocks two", {"blocks": ["t-1", "t-2"]}),
        (here, "low, young", {}),
        (here, "medium", {"risk": "medium"}),
    ]
    for goal, question, more in given:
        ask(kit, goal, question, **more)
        kit.clock.advance(1)
    ours = ["medium", "low, blocks two", "low, blocks one", "low, old", "low, young"]
    assert [item["question"] for item in inbox(kit, here="/here/deep")["items"]] == [*ours, "away, high", "away, low"]
    assert [item["question"] for item in inbox(kit, here="/away")["items"]] == ["away, high", "away, low", *ours]
    everywhere = ["away, high", "medium", "low, blocks two", "low, blocks one", "away, low", "low, old", "low, young"]
    assert [item["question"] for item in inbox(kit)["items"]] == everywhere
    assert [item["question"] for item in inbox(kit, limit=2)["items"]] == everywhere[:2]
    assert inbox(kit, limit=2)["total"] == 7


def test_what_was_put_off_waits_until_its_time(kit: Kit) -> None:
    ask(kit, kit.draft())
    kit.say("decision snooze", decision="d-1", hours=1)
    assert inbox(kit)["total"] == 0
    kit.clock.advance(HOUR)
    assert inbox(kit)["total"] == 1


def test_an_agent_is_asked_about_its_own_goals(kit: Kit) -> None:
    kit.agent("ada")
    kit.agent("bob")
    ask(kit, kit.draft(agent=["ada"]), "One")
    ask(kit, kit.draft(agent=["bob"]), "Two")
    answer(kit, ask(kit, "g-2", "Three"))
    found = inbox(kit, Identity(kind="agent", actor="a-3"))
    assert [item["question"] for item in found["items"]] == ["One"]
    assert (found["total"], found["answered"]) == (1, [])


# -- answered --------------------------------------------------------------------------------------------------------------


def test_answered_in_the_last_day_newest_first(kit: Kit) -> None:
    goal = kit.draft("Shop")
    answer(kit, ask(kit, goal, "Old?"))
    kit.clock.advance(HOUR)
    answer(kit, ask(kit, goal, "Which?", option=["left", "right"]), "2", reason="it is shorter")
    kit.clock.advance(1)
    answer(kit, ask(kit, goal, "How?"), text="with care")
    first, second, third = inbox(kit)["answered"]
    assert first == {
        "id": "d-3", "goal": goal, "goal_title": "Shop", "question": "How?", "answer": "yes", "text": "with care", "reason": "",
        "answered_at": kit.clock.now(), "by": "ana", "grant": None,
    }  # fmt: skip
    assert (second["answer"], second["text"], second["reason"]) == ("2", "right", "it is shorter")
    assert third["question"] == "Old?"
    kit.clock.advance(DAY - HOUR - 1)
    assert [item["id"] for item in inbox(kit)["answered"]] == ["d-3", "d-2"]
    kit.clock.advance(HOUR + 1)
    assert inbox(kit)["answered"] == []


def test_at_most_ten_are_shown(kit: Kit) -> None:
    goal = kit.draft()
    for number in range(12):
        answer(kit, ask(kit, goal, f"Number {number}?"))
        kit.clock.advance(1)
    assert [item["question"] for item in inbox(kit)["answered"]] == [f"Number {n}?" for n in range(11, 1, -1)]


def test_an_answer_that_left_a_grant_names_it(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal)
    kit.turn(kit.begin(kit.agent()), "decision ask", goal=goal, question="push?", effect={**PUSH, "ref": "x"})
    answer(kit, "d-1", remember=True)
    assert inbox(kit)["answered"][0]["grant"] == "gr-1"


def test_an_answer_nobody_signed_is_nobodys(kit: Kit) -> None:
    goal = kit.draft()
    answer(kit, ask(kit, goal, "One?"), "no")
    kit.tamper("update decision set answer = 'yes'")
    assert inbox(kit)["answered"][0]["by"] == "nobody: its signature is void"
    kit.tamper("update decision set proof = null")
    assert inbox(kit)["answered"][0]["by"] == "nobody: its signature is void"


# -- findings ------------------------------------------------------------------------------------------------------------


def lost(kit: Kit) -> str:
    goal = kit.goal("Shop")
    kit.todo(goal, "Rank")
    kit.act("turn lose", turn=kit.begin(kit.agent()).turn, reason="gone")
    return goal


def test_findings_carry_the_title_of_their_goal(kit: Kit) -> None:
    lost(kit)
    finding = inbox(kit)["findings"][0]
    assert (finding["kind"], finding["subject"], finding["goal_title"]) == ("lost turn", "u-1", "Shop")
    assert finding["choices"][0]["command"] == ["goal", "resume", "g-1"]
    assert read(kit, "findings")["items"] == [finding]
    assert read(kit, "list", noun="finding")["items"] == [finding]
    assert read(kit, "status")["broken"] == [finding]


def test_a_turn_taken_up_again_is_no_finding(kit: Kit) -> None:
    lost(kit)
    again = kit.begin("a-3")
    assert read(kit, "findings")["items"] == [], "also at the same millisecond the newer turn counts"
    kit.turn(again, "turn abandon", turn=again.turn)
    assert read(kit, "findings")["items"] == []


def test_what_nobody_wants_any_more_is_no_finding(kit: Kit) -> None:
    goal = lost(kit)
    kit.say("todo drop", todo="t-1")
    assert read(kit, "findings")["items"] == []
    kit.say("todo reopen", todo="t-1")
    assert len(read(kit, "findings")["items"]) == 1
    kit.say("goal pause", goal=goal)
    assert len(read(kit, "findings")["items"]) == 1
    kit.sign("goal archive", goal=goal)
    assert read(kit, "findings")["items"] == []


def test_a_lost_turn_far_down_the_list_is_found(kit: Kit) -> None:
    goal = kit.goal()
    for number in range(60):
        kit.todo(goal, str(number))
    kit.act("turn lose", turn=kit.begin(kit.agent(), todo="t-60").turn, reason="gone")
    assert [item["subject"] for item in read(kit, "findings")["items"]] == ["u-1"]


def test_findings_are_oldest_first_and_end_where_an_agents_reach_ends(kit: Kit) -> None:
    lost(kit)
    kit.clock.advance(1)
    kit.act("place settle", place="pl-1", state="broken", reason="no disk\nmore")
    found = read(kit, "findings")["items"]
    assert [(item["kind"], item["happened"]) for item in found][1] == ("place broken", "no disk")
    kit.agent("bob")
    kit.sign("goal edit", goal="g-1", agent=["bot"])
    assert read(kit, "findings", Identity(kind="agent", actor="a-4"))["items"] == []
    assert len(read(kit, "findings", Identity(kind="agent", actor="a-3"))["items"]) == 2


def test_a_record_in_trouble_that_cannot_be_read_is_a_finding_of_its_own(kit: Kit) -> None:
    lost(kit)
    kit.act("place settle", place="pl-1", state="broken", reason="no disk")
    poison(kit, "turn", "u-1", "claim", "'['")
    found = inbox(kit)["findings"]
    assert {item["kind"] for item in found} == {"damaged record", "place broken"}
    damaged = next(item for item in found if item["kind"] == "damaged record")
    assert damaged["subject"] == "u-1"
    assert damaged["happened"] == "u-1 cannot be shown: what is kept of it cannot be read"
    assert damaged["choices"] == [{"text": "check every receipt and record", "command": ["verify"]}]
    line = read(kit, "goals")["items"][0]["line"]
    assert line == "2 findings · place broken"
    kit.tamper("update place set state = 'ready'")
    assert read(kit, "goals")["items"][0]["line"] == "1 finding · record damaged"


# -- poison ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "sql", "why"),
    [
        ("risk", "'enormous'", "its risk"), ("options", "'['", "cannot be read"), ("options", "'[[1]]'", "its options"),
        ("blocks", "'5'", "its blocks"), ("kind", "'riddle'", "its kind"), ("why", BAD_TEXT, "cannot be read"),
    ],
)  # fmt: skip
def test_a_poisoned_question_is_one_row(kit: Kit, field: str, sql: str, why: str) -> None:
    goal = kit.draft()
    for question in ("One?", "Two?", "Three?"):
        ask(kit, goal, question)
    poison(kit, "decision", "d-2", field, sql)
    found = inbox(kit)
    assert found["total"] == 3
    rows = {item["id"]: item for item in found["items"]}
    assert set(rows["d-2"]) == {"id", "poisoned"}
    assert why in rows["d-2"]["poisoned"]
    assert {rows["d-1"]["question"], rows["d-3"]["question"]} == {"One?", "Three?"}
    status = read(kit, "status")
    assert status["needs_you_count"] == 3
    assert [item["id"] for item in status["needs_you"]] == ["d-1", "d-3"]


def test_a_risk_nobody_knows_comes_first(kit: Kit) -> None:
    goal = kit.draft()
    ask(kit, goal, "One?", risk="high")
    ask(kit, goal, "Two?")
    poison(kit, "decision", "d-2", "risk", "'enormous'")
    assert [item["id"] for item in inbox(kit)["items"]] == ["d-2", "d-1"]


def test_a_poisoned_answer_keeps_its_place(kit: Kit) -> None:
    goal = kit.draft("Shop")
    answer(kit, ask(kit, goal, "One?"))
    poison(kit, "decision", "d-1", "options", "'['")
    row = inbox(kit)["answered"][0]
    assert row["poisoned"] == "what is kept of it cannot be read"
    assert (row["question"], row["goal_title"], row["by"], row["grant"]) == ("", "Shop", "", None)


def test_many_questions_cost_no_more_than_are_shown(kit: Kit) -> None:
    from reading.scene import statements

    goal = kit.draft()
    for number in range(8):
        ask(kit, goal, f"Number {number}?")
    few = len(statements(kit, "inbox", limit=3))
    kit.tamper(
        """insert into decision with recursive n(i) as (select 100 union all select i + 1 from n where i < 3099)
        select 'd-' || i, d.goal, d.kind, d.question, d.why, d.options, d.effect, d.commands, d.basis, d.risk, d.rule, d.blocks,
        d.asked_by, d.turn, d.ask_ref, d.cause, d.asked, d.state, d.answer, d.answer_text, d.reason, d.proof, d.outcome,
        d.created_at, d.expires, d.snoozed_until, d.answered_at from decision d, n where d.id = 'd-1'"""
    )
    assert len(statements(kit, "inbox", limit=3)) == few
    assert inbox(kit, limit=3)["total"] == 3008
