"""After `kill -9` of an engine the next start needs no repair: leftovers ended, turns lost, claims proved, work goes on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from heart_kit import NO_BOX, SAYS_HO, House, until

from loopx_engine.heartbeat.lost import LOST_TURN, OPTIONS
from loopx_engine.heartbeat.recovery import UNDER_WAY, recover
from loopx_engine.ledger.driver import sqlite3
from loopx_engine.model.decision import Decision
from loopx_engine.model.wake import Wake
from loopx_engine.places.processes import members, start

pytestmark = pytest.mark.real

HALF = """
if not os.path.exists("half"):
    write("half", "x")
    subprocess.Popen(["setsid", "sleep", "600"])
    say(type="note", text="half of it")
    while True:
        time.sleep(1)
say(type="note", text="found my half: " + str(packet["left_behind"]))
write("a", "ho\\n")
done("both halves")
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def killed_in_a_turn(house: House, **goal: object) -> tuple[str, str]:
    """A goal whose engine was killed in the middle of a turn."""
    named, todo = house.ready(HALF, **goal)
    engine = house.engine_process("run", "--no-sandbox")
    try:
        house.turn_says(named, "half of it")
    finally:
        engine.send_signal(signal.SIGKILL)
        engine.wait()
    assert house.processes(named), "without a box the turn outlives its engine"
    return named, todo


def test_unattended_work_continues_where_it_was(house: House) -> None:
    goal, todo = killed_in_a_turn(house, autonomy="unattended")
    engine = house.engine_process("once", "--no-sandbox")
    assert engine.wait(60) == 0
    first, second = house.turns(goal)
    assert (first.state, first.result, second.result) == ("lost", "interrupted", "done")
    assert house.todo_now(todo).state == "done"
    assert house.processes(goal) == []
    assert "'result': 'lost'" in house.transcript(second)
    assert house.git("show", "--stat", "--format=", f"loopx/{goal}").count("half") == 1
    house.sound()


def test_otherwise_a_person_is_asked_and_nothing_starts_before(house: House) -> None:
    goal, todo = killed_in_a_turn(house)
    house.once(box=NO_BOX)
    assert house.processes(goal) == []
    assert [turn.state for turn in house.turns(goal)] == ["lost"]
    (asked,) = house.asked(goal)
    assert asked.cause == f"{LOST_TURN}:{house.turns(goal)[0].id}"
    assert asked.blocks == (todo,)
    assert [text for _, text in asked.options] == OPTIONS
    house.once(box=NO_BOX)
    assert len(house.turns(goal)) == 1
    assert len(house.asked(goal)) == 1


def test_answered_1_it_continues_with_what_is_there(house: House) -> None:
    goal, todo = killed_in_a_turn(house)
    house.once(box=NO_BOX)
    house.answer(house.asked(goal)[0], "1")
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "done"
    assert "found my half" in house.transcript(house.turns(goal)[1])
    assert house.subjects(f"loopx/{goal}") == ["Write ho", "begin"]


def test_answered_2_its_changes_are_set_aside_and_it_starts_fresh(house: House) -> None:
    goal, todo = killed_in_a_turn(house)
    house.once(box=NO_BOX)
    old = house.place(goal)
    lost = house.turns(goal)[0]
    house.program("bot", f'say(type="note", text=str(os.path.exists("half")) + str(packet["left_behind"]))\n{SAYS_HO}')
    house.answer(house.asked(goal)[0], "2")
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "done"
    said = house.transcript(house.turns(goal)[1])
    assert "[note] False" in said
    assert f"refs/loopx/wip/{lost.id}" in said
    assert house.git("show", f"refs/loopx/wip/{lost.id}:half") == "x"
    assert house.place(goal).path != old.path
    assert (Path(old.path) / "half").read_text(encoding="utf-8") == "x", "no file is removed"
    assert house.git("ls-tree", "--name-only", f"loopx/{goal}") == "a"
    house.sound()


def test_answered_3_the_todo_is_dropped_and_other_work_goes_on(house: House) -> None:
    goal, todo = killed_in_a_turn(house)
    house.once(box=NO_BOX)
    house.program("bot", SAYS_HO)
    other = house.todo(goal, "Other")
    house.answer(house.asked(goal)[0], "3")
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "dropped"
    assert house.todo_now(other).state == "done"
    assert house.git("ls-tree", "--name-only", f"loopx/{goal}") == "a"
    house.sound()


def test_an_answer_that_was_written_into_the_database_drops_nothing(house: House) -> None:
    goal, todo = killed_in_a_turn(house)
    house.once(box=NO_BOX)
    (asked,) = house.asked(goal)
    with sqlite3.connect(house.home / "ledger.db") as forged:
        forged.execute("update decision set state = 'carried out', answer = '3' where id = ?", (asked.id,))
    forged.close()
    heart = house.heart()
    heart.act("wake set", goal=goal, due=0, pace="work", cause="the test looks")
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "open"
    assert len(house.turns(goal)) == 1


def test_a_claim_lost_while_finishing_is_proved_at_the_next_start(house: House) -> None:
    gate = house.folder / "slow"
    gate.write_text("", encoding="utf-8")
    check = ("sh", "-c", f"grep -q ho a || exit 1; test ! -e {gate} || sleep 600")
    goal, todo = house.ready('write("a", "ho\\n"); done("x"); hear()', check=check)
    engine = house.engine_process("run", "--no-sandbox")
    try:
        until(lambda: any(turn.state == "finishing" for turn in house.live(goal)), "the claim")
    finally:
        engine.kill()
        engine.wait()
    gate.unlink()
    house.once(box=NO_BOX)
    (turn,) = house.turns(goal)
    assert (turn.state, turn.result) == ("settled", "done")
    assert house.todo_now(todo).proof == "proved"
    assert house.processes(goal) == []
    assert house.subjects(f"loopx/{goal}")[0] == "Write ho"
    house.sound()


def test_an_engine_killed_while_it_prepared_a_place_does_it_again(house: House) -> None:
    gate = house.folder / "slow"
    gate.write_text("", encoding="utf-8")
    house.person.signs("project setup", project=house.project, argv=[["sh", "-c", f"test ! -e {gate} || sleep 600"]])
    goal, todo = house.ready()
    engine = house.engine_process("run", "--no-sandbox")
    try:
        until(lambda: house.processes(goal), "the set-up to run")
    finally:
        engine.kill()
        engine.wait()
    gate.unlink()
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "done"
    assert house.processes(goal) == []


def test_what_was_under_way_is_looked_at_at_once(house: House) -> None:
    goal, _ = house.ready()
    heart = house.heart(box=NO_BOX)
    heart.act("wake set", goal=goal, due=heart.clock.now() + 60_000, pace="others", cause=UNDER_WAY)
    recover(heart)
    assert house.get(Wake, goal).due <= heart.clock.now()


def test_a_wake_that_was_set_for_later_stays_later(house: House) -> None:
    goal, _ = house.ready()
    heart = house.heart(box=NO_BOX)
    due = heart.clock.now() + 60_000
    heart.act("wake set", goal=goal, due=due, pace="idle", cause="not_due")
    recover(heart)
    assert house.get(Wake, goal).due == due


def test_recovery_ends_no_process_of_another_ledger(house: House, tmp_path: Path) -> None:
    """Turns are u-1 in every ledger; an engine ends what its own ledger started and nothing else."""
    goal, _ = house.ready()
    other = start(["sleep", "600"], cwd=tmp_path, environment=dict(os.environ), tag=f"0123456789abcdef/{goal}/u-1")
    mine = start(["sleep", "600"], cwd=tmp_path, environment=dict(os.environ), tag=house.heart().tag(goal, "u-1"))
    try:
        recover(house.heart(box=NO_BOX))
        assert mine.wait(5) != 0
        assert other.poll() is None
        assert [process.pid for process in members("0123456789abcdef")] == [other.pid]
    finally:
        for process in (other, mine):
            process.kill()
            process.wait()


def test_an_agent_that_comes_by_itself_keeps_its_turn_over_a_restart(house: House) -> None:
    goal, todo = house.ready()
    house.once(box=NO_BOX)
    second = house.todo(goal, "two", check=())
    actor = house.person.signs("actor add", name="walker", kind="agent").answer["actor"]
    house.person.signs("goal edit", goal=goal, agent=["walker"])
    house.once(box=NO_BOX)
    heart = house.heart(box=NO_BOX)
    house.engine.run("turn begin", {"goal": goal, "todo": second}, heart.agent(actor, goal))
    recover(heart)
    assert [turn.state for turn in house.live(goal)] == ["open"]
    assert house.todo_now(todo).state == "done"


def test_a_turn_past_its_deadline_is_lost_and_a_person_is_asked(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopx_engine.heartbeat.scheduler.LONGEST_WAIT_S", 0.5)
    goal, _ = house.ready()
    house.once(box=NO_BOX)
    todo = house.todo(goal, "two", check=())
    actor = house.person.signs("actor add", name="walker", kind="agent").answer["actor"]
    house.person.signs("goal edit", goal=goal, agent=["walker"])
    house.once(box=NO_BOX)
    heart = house.heart(box=NO_BOX)
    house.engine.run("turn begin", {"goal": goal, "todo": todo, "wall": 300}, heart.agent(actor, goal))
    with house.running(box=NO_BOX):
        until(lambda: not house.live(goal), "the turn to be lost")
    assert house.turns(goal)[-1].state == "lost"
    asked = house.records(Decision, "decision.of_goal", goal=goal, limit=9)
    assert [item.blocks for item in asked if item.cause.startswith(LOST_TURN)] == [(todo,)]
    assert house.lease_is_free(todo)
