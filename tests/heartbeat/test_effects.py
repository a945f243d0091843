"""Acts outside: asked or granted, bound to what was shown, carried out once, void when it moved, read back when unknown."""

from __future__ import annotations

from pathlib import Path

import pytest
from heart_kit import SAYS_HO, House, until

from loopx_engine.heartbeat.effects import carry_out_all
from loopx_engine.model.decision import Decision
from loopx_engine.model.effect import Effect

pytestmark = pytest.mark.real

PUSHES = """
if title == "Write ho":
    write("a", "ho\\n")
    done("x")
else:
    act = {"action": "push", "remote": "origin", "ref": REF}
    say(type="ask", id="p", question="push it?", why="so that others see", effect=act)
    answer = hear()
    while answer["type"] != "answer":
        answer = hear()
    say(type="note", text=f"push: {answer['option']} {answer.get('text', '')}")
    write("b", "released")
    done("asked")
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = House(tmp_path)
    made.bare_remote()
    return made


def releasing(house: House, ref: str) -> tuple[str, str]:
    """A goal with one todo to prove and one that then asks to push."""
    goal, first = house.ready(f"REF = {ref!r}\n{PUSHES}")
    second = house.todo(goal, "Release", check=("test", "-e", "b"), needs=[first])
    return goal, second


def remote_head(house: House, ref: str) -> str:
    return house.git("ls-remote", str(house.folder / "remote.git"), f"refs/heads/{ref}").split("\t")[0]


def effects(house: House, goal: str, action: str = "push") -> list[Effect]:
    return [item for item in house.records(Effect, "effect.of_goal", goal=goal, limit=50) if item.action == action]


def test_a_push_under_a_grant_is_not_asked_and_its_receipt_names_the_grant(house: House) -> None:
    goal, second = releasing(house, "preview/x")
    grant = house.person.signs("grant add", kind="push", pattern="origin/preview/*", goal=goal, uses=3).answer["grant"]
    house.once()
    assert house.todo_now(second).state == "done"
    assert remote_head(house, "preview/x") == house.git("rev-parse", f"loopx/{goal}~1")
    (effect,) = effects(house, goal)
    assert (effect.state, effect.grant) == ("done", grant)
    assert [item.grant for item in house.engine.ledger.receipts() if item.grant] == [grant]
    assert house.records(Decision, "decision.of_goal", goal=goal, limit=9) == []
    house.sound()


def test_a_push_waits_for_the_person_and_is_carried_out_once(house: House) -> None:
    goal, second = releasing(house, "main")
    before = remote_head(house, "main")
    with house.running():
        asked = until(lambda: house.asked(goal), "the question")[0]
        assert (asked.kind, asked.risk) == ("effect", "high")
        assert asked.effect is not None
        assert asked.effect["sha"] == house.git("rev-parse", f"loopx/{goal}")
        assert remote_head(house, "main") == before
        assert house.live(goal)
        house.answer(asked, "yes")
        until(lambda: house.todo_now(second).state == "done", "the release")
    assert remote_head(house, "main") == asked.effect["sha"]
    assert [item.state for item in effects(house, goal)] == ["done"]
    assert house.get(Decision, asked.id).state == "carried out"
    assert "push: yes" in house.transcript(house.turns(goal)[1])
    house.sound()


def test_a_no_is_handed_over_and_nothing_is_pushed(house: House) -> None:
    goal, second = releasing(house, "main")
    before = remote_head(house, "main")
    with house.running():
        asked = until(lambda: house.asked(goal), "the question")[0]
        house.answer(asked, "no", text="not today")
        until(lambda: house.todo_now(second).state == "done", "the todo to be done all the same")
    assert "push: no not today" in house.transcript(house.turns(goal)[1])
    assert remote_head(house, "main") == before
    assert effects(house, goal) == []


def test_an_answer_is_void_when_the_remote_branch_moved_and_the_difference_is_asked(house: House) -> None:
    goal, _second = releasing(house, "main")
    with house.running():
        asked = until(lambda: house.asked(goal), "the question")[0]
        (house.root / "c").write_text("c", encoding="utf-8")
        house.git("add", "-A")
        house.git("commit", "-q", "-m", "somebody else")
        house.git("push", "-q", "origin", "main")
        moved = remote_head(house, "main")
        house.answer(asked, "yes")
        again = until(lambda: [item for item in house.asked(goal) if item.id != asked.id], "the new question")[0]
        void = house.get(Decision, asked.id)
        assert void.state == "void"
        assert "remote_has" in void.outcome
        assert again.effect is not None
        assert again.effect["remote_has"] == moved
        assert remote_head(house, "main") == moved
        until(lambda: "push: no" in house.transcript(house.turns(goal)[1]), "the agent to hear of it")
    assert [item.state for item in effects(house, goal)] == ["failed"]


def test_a_decision_about_a_goal_that_is_done_is_carried_out(house: House) -> None:
    goal, _todo = house.ready()
    criterion = house.person.signs("criterion add", goal=goal, text="looked at").answer["criterion"]
    house.once()
    heart = house.heart()
    from loopx_engine.heartbeat.effects import resolve_effect

    effect = resolve_effect(heart, house.goal_now(goal), {"action": "push", "remote": "origin", "ref": "late"})
    decision = house.person.says("decision ask", goal=goal, question="push?", effect=effect).answer["decision"]
    house.answer(house.get(Decision, decision), "yes")
    house.person.signs("criterion meet", criterion=criterion, reason="seen")
    house.person.signs("goal close", goal=goal)
    assert remote_head(house, "late") == ""
    house.once()
    assert remote_head(house, "late") == effect["sha"]


def test_an_act_whose_remote_is_gone_fails_with_words_and_the_turn_goes_on(house: House) -> None:
    goal, second = releasing(house, "main")
    with house.running():
        asked = until(lambda: house.asked(goal), "the question")[0]
        house.git("remote", "remove", "origin")
        house.answer(asked, "yes")
        until(lambda: house.todo_now(second).state == "done", "the turn to go on")
    (effect,) = effects(house, goal)
    assert effect.state == "failed"
    assert "origin" in effect.detail
    assert "push: yes failed" in house.transcript(house.turns(goal)[1]) or "push: " in house.transcript(
        house.turns(goal)[1]
    )


def test_a_push_attempted_by_an_engine_that_is_gone_is_read_back_not_repeated(house: House) -> None:
    goal, _todo = house.ready()
    house.once()
    heart = house.heart()
    from loopx_engine.heartbeat.effects import resolve_effect

    params = resolve_effect(heart, house.goal_now(goal), {"action": "push", "remote": "origin", "ref": "main"})
    decision = house.person.says("decision ask", goal=goal, question="push?", effect=params).answer["decision"]
    effect = house.answer(house.get(Decision, decision), "yes")["effect"]
    heart.act("effect attempt", effect=effect)
    assert carry_out_all(heart, goal) == 1
    found = house.get(Effect, effect)
    assert (found.state, found.detail) == ("failed", "read back from the remote")
    assert remote_head(house, "main") != params["sha"]


def test_an_act_whose_outcome_cannot_be_learnt_is_uncertain_and_tried_again_only_by_reading(house: House) -> None:
    goal, _todo = house.ready()
    house.once()
    heart = house.heart()
    given = {"action": "command", "argv": ["sh", "-c", "echo once >> ../count"]}
    decision = house.person.says("decision ask", goal=goal, question="run?", effect=given).answer["decision"]
    effect = house.answer(house.get(Decision, decision), "yes")["effect"]
    heart.act("effect attempt", effect=effect)
    carry_out_all(heart, goal)
    assert house.get(Effect, effect).state == "uncertain"
    house.once()
    assert house.get(Effect, effect).state == "uncertain"
    assert not (Path(house.place(goal).path).parent / "count").exists()


def test_a_command_that_a_person_allowed_runs_outside_the_box(house: House) -> None:
    goal, _todo = house.ready()
    house.once()
    target = house.folder / "outside"
    given = {"action": "command", "argv": ["touch", str(target)]}
    decision = house.person.says("decision ask", goal=goal, question="run?", effect=given).answer["decision"]
    effect = house.answer(house.get(Decision, decision), "yes")["effect"]
    house.once()
    assert house.get(Effect, effect).state == "done"
    assert target.exists()


def test_a_commit_that_was_intended_when_the_engine_died_is_made_at_the_next_start(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal, todo = house.ready()
    with monkeypatch.context() as patched:
        patched.setattr("loopx_engine.heartbeat.driver.carry_out_all", lambda heart, goal: 0)
        patched.setattr("loopx_engine.heartbeat.looking.carry_out_all", lambda heart, goal: 0)
        with house.running():
            until(lambda: house.todo_now(todo).state == "done", "the todo")
    assert house.todo_now(todo).commit == ""
    house.once()
    assert house.todo_now(todo).commit == house.git("rev-parse", f"loopx/{goal}")
    assert house.subjects(f"loopx/{goal}") == ["Write ho", "begin"]


def test_ask_about_nothing_that_is_an_act_is_refused_to_the_agent(house: House) -> None:
    goal, todo = house.ready(f"""
        say(type="ask", id="x", question="?", effect={{"action": "push", "remote": "nowhere", "ref": "main"}})
        say(type="note", text=str(hear()))
        {SAYS_HO}
    """)
    house.once()
    said = house.transcript(house.turns(goal)[0])
    assert "'option': 'no'" in said
    assert house.todo_now(todo).state == "done"
