"""What a todo waits for: looked at by the engine, opened when it comes true, and never a reason to poll fast."""

from __future__ import annotations

from pathlib import Path

import pytest
from heart_kit import NO_BOX, SAYS_HO, House, until

from loopx_engine.heartbeat.conditions import Conditions
from loopx_engine.model.todo import Todo
from loopx_engine.model.wake import Wake

ANY = """
with open("a", "a") as file:
    file.write(title + " ho\\n")
done(title)
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def waiting(house: House, wait: str, body: str = ANY) -> tuple[str, str]:
    house.agent(body)
    goal = house.goal()
    todo = house.todo(goal, "Later", wait=wait, check=())
    house.resume(goal)
    return goal, todo


@pytest.mark.real
def test_at_a_time(house: House) -> None:
    due = house.engine.clock.now() + 1500
    goal, todo = waiting(house, f"at:{due}")
    with house.running(box=NO_BOX):
        until(lambda: house.todo_now(todo).state == "done", "its time")
    assert house.turns(goal)[0].begun_at >= due


@pytest.mark.real
def test_a_time_ahead_does_not_keep_once_waiting_and_sets_the_wake(house: House) -> None:
    due = house.engine.clock.now() + 3_600_000
    goal, todo = waiting(house, f"at:{due}")
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "waiting"
    assert abs(house.get(Wake, goal).due - due) < 1000


@pytest.mark.real
def test_another_todo_done(house: House) -> None:
    house.agent(ANY)
    goal = house.goal()
    first = house.todo(goal, "First", check=())
    second = house.todo(goal, "Second", wait=f"done:{first}", check=())
    house.resume(goal)
    house.once(box=NO_BOX)
    assert [turn.todo for turn in house.turns(goal)] == [first, second]


@pytest.mark.real
def test_a_decision_answered_by_a_person(house: House) -> None:
    house.agent(ANY)
    goal = house.goal()
    decision = house.person.says("decision ask", goal=goal, question="now?").answer["decision"]
    todo = house.todo(goal, "Later", wait=f"decided:{decision}", check=())
    house.resume(goal)
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "waiting"
    house.answer(house.asked(goal)[0], "yes")
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "done"


@pytest.mark.real
def test_a_file_in_the_place(house: House) -> None:
    goal, todo = waiting(house, "file:inbox/*.txt")
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "waiting"
    inbox = Path(house.place(goal).path) / "inbox"
    inbox.mkdir()
    (inbox / "order.txt").write_text("x", encoding="utf-8")
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "done"


@pytest.mark.real
def test_a_file_that_appears_while_the_engine_runs_is_noticed_without_any_event(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loopx_engine.heartbeat.scheduler.LONGEST_WAIT_S", 0.5)
    goal, todo = waiting(house, "file:flag")
    with house.running(box=NO_BOX):
        place = until(lambda: house.places(goal), "the place")[0]
        until(lambda: house.place(goal).state == "ready", "the place to be ready")
        until(lambda: house.get(Wake, goal).cause == "condition_open", "the engine to rest")
        (Path(place.path) / "flag").write_text("", encoding="utf-8")
        until(lambda: house.todo_now(todo).state == "done", "the file to be seen")


@pytest.mark.real
def test_a_command_that_succeeds(house: House) -> None:
    goal, todo = waiting(house, "command:test -e flag")
    heart = house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "waiting"
    (Path(house.place(goal).path) / "flag").write_text("", encoding="utf-8")
    heart.act("wake set", goal=goal, due=0, pace="work", cause="the test looks")
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "done"


@pytest.mark.real
def test_a_command_that_fails_is_tried_ever_more_rarely(house: House) -> None:
    goal, todo = waiting(house, "command:sh -c 'echo x >> tries; exit 1'")
    house.once(box=NO_BOX)
    tries = Path(house.place(goal).path) / "tries"
    assert tries.read_text(encoding="utf-8") == "x\n"
    conditions = Conditions(house.heart(box=NO_BOX))
    now = house.goal_now(goal)
    gaps = []
    for _ in range(4):
        conditions._tries = {name: (times, 0) for name, (times, _) in conditions._tries.items()}
        due = conditions.commands_due(now)
        assert [item.id for item in due] == [todo]
        conditions.try_commands(now, due)
        assert conditions.commands_due(now) == []
        gaps.append((conditions.next_try(now) or 0) - house.engine.clock.now())
    assert [round(gap / 60_000) for gap in gaps] in ([1, 2, 4, 8], [1, 2, 4, 9])


@pytest.mark.real
def test_a_slow_command_does_not_hold_up_other_goals(house: House) -> None:
    slow, _ = waiting(house, "command:sleep 30")
    other = house.goal("Other")
    todo = house.todo(other, "Quick", check=())
    house.resume(other)
    with house.running(box=NO_BOX):
        until(lambda: house.processes(slow), "the command to run")
        until(lambda: house.todo_now(todo).state == "done", "the other goal's todo", 15)
        assert house.processes(slow)
    assert house.processes() == []


@pytest.mark.parametrize("pattern", ["../**/ledger.db", "/etc/passwd", "**/../..", "[", "", "a\0b", "~/x"])
def test_a_glob_never_leads_out_of_the_place(house: House, tmp_path: Path, pattern: str) -> None:
    from loopx_engine.heartbeat.conditions import _is_there

    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "ledger.db").write_text("x", encoding="utf-8")
    assert not _is_there(root, pattern)


def test_a_link_that_leads_out_of_the_place_is_not_there(house: House, tmp_path: Path) -> None:
    from loopx_engine.heartbeat.conditions import _is_there

    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    assert not _is_there(root, "link")
    (root / "file").write_text("x", encoding="utf-8")
    assert _is_there(root, "*")
    assert _is_there(root, "/file")


@pytest.mark.real
def test_a_condition_that_can_no_longer_come_true_is_asked_about(house: House) -> None:
    house.agent(SAYS_HO)
    goal = house.goal()
    first = house.todo(goal, "First", wait="file:never", check=())
    second = house.todo(goal, "Second", wait=f"done:{first}", check=())
    house.resume(goal)
    house.person.says("todo drop", todo=first)
    house.once(box=NO_BOX)
    assert house.get(Todo, second).state == "waiting"
    assert [item.cause.partition(":")[0] for item in house.asked(goal)] == ["condition_dead"]
