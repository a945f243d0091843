"""The scheduler as a whole: it starts what is due, rests when nothing is, writes nothing then, and one fault stops no other."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
import pytest
from heart_kit import NO_BOX, SAYS_HO, House, idle_cpu, until

from loopx_engine.errors import TryAgain
from loopx_engine.heartbeat.scheduler import Scheduler
from loopx_engine.heartbeat.starting import Starts
from loopx_engine.heartbeat.turn_clock import Clocks
from loopx_engine.model.turn import Turn
from loopx_engine.model.wake import Wake


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def several(house: House, number: int, body: str, **more: object) -> list[tuple[str, str]]:
    made = []
    for place in range(number):
        house.agent(body, f"bot{place}")
        goal = house.goal(f"goal {place}", agent=[f"bot{place}"], **more)
        todo = house.todo(goal, check=())
        house.resume(goal)
        made.append((goal, todo))
    return made


@pytest.mark.real
def test_a_second_engine_ends_75_and_names_the_first(house: House) -> None:
    first = house.engine_process("run")
    try:
        lock = house.home / "engine.lock"
        until(lambda: lock.exists() and str(first.pid) in lock.read_text(encoding="utf-8"), "the first engine")
        second = house.engine_process("once")
        out, _ = second.communicate(timeout=30)
        assert second.returncode == 75
        assert str(first.pid) in out.decode()
        assert first.poll() is None
    finally:
        first.terminate()
        assert first.wait(10) == 0


@pytest.mark.real
def test_an_idle_engine_writes_nothing_and_hardly_uses_a_processor(house: House) -> None:
    goal, todo = house.ready()
    engine = house.engine_process("run", "--no-sandbox")
    try:
        until(lambda: house.todo_now(todo).state == "done", "the work to be done")
        until(lambda: house.get(Wake, goal).due > house.engine.clock.now() + 60_000, "the engine to rest")
        seq = house.engine.ledger.last_seq()
        log = next((house.home / "logs").glob("*.jsonl"))
        size = log.stat().st_size
        used = idle_cpu(psutil.Process(engine.pid), 6.0)
        assert house.engine.ledger.last_seq() == seq, [item.verb for item in house.engine.ledger.receipts(after=seq)]
        assert log.stat().st_size == size
        assert used <= 0.05, f"{used:.2%} of a core"
    finally:
        engine.terminate()
        assert engine.wait(10) == 0


@pytest.mark.real
def test_work_that_is_added_while_the_engine_rests_starts_by_that_commit(house: House) -> None:
    goal, todo = house.ready()
    with house.running(box=NO_BOX):
        until(lambda: house.todo_now(todo).state == "done", "the first todo")
        until(lambda: house.get(Wake, goal).due > house.engine.clock.now() + 60_000, "the engine to rest")
        added = house.todo(goal, "more", check=())
        asked_at = time.monotonic()
        until(lambda: house.live(goal) or house.todo_now(added).state == "done", "the new todo to be taken")
        assert time.monotonic() - asked_at < 5
        until(lambda: house.todo_now(added).state == "done", "the new todo")


@pytest.mark.real
def test_no_more_turns_at_once_than_allowed_and_all_get_their_turn(house: House) -> None:
    go = house.folder / "go"
    made = several(
        house,
        4,
        f"""
        say(type="note", text="here")
        while not os.path.exists({str(go)!r}):
            time.sleep(0.02)
        done(title)
    """,
    )
    most = 0
    with house.running(box=NO_BOX, turns_at_once=2):

        def live() -> int:
            nonlocal most
            most = max(most, len(house.records(Turn, "turn.all_live")))
            return most

        until(lambda: live() == 2, "two turns")
        until(lambda: all(item.state != "new" for goal, _ in made for item in house.places(goal)), "the places of all")
        ends = time.monotonic() + 1.0
        until(lambda: live() > 2 or time.monotonic() > ends, "no third one")
        go.write_text("", encoding="utf-8")
        until(lambda: live() and all(house.todo_now(todo).state == "done" for _, todo in made), "all to be done")
    assert most == 2


@pytest.mark.real
def test_waiting_for_room_is_no_busy_loop(house: House) -> None:
    made = several(house, 3, 'say(type="note", text="here"); time.sleep(600)')
    rounds = 0
    with house.running(box=NO_BOX, turns_at_once=1) as scheduler:
        until(lambda: len(house.records(Turn, "turn.all_live")) == 1, "one turn")
        until(lambda: all(house.places(goal) and house.place(goal).state == "ready" for goal, _ in made), "all places")
        whole = scheduler._round

        def counted() -> None:
            nonlocal rounds
            rounds += 1
            whole()

        scheduler._round = counted  # type: ignore[method-assign]
        seq = house.engine.ledger.last_seq()
        ends = time.monotonic() + 2.0
        until(lambda: time.monotonic() > ends, "two seconds")
        assert rounds <= 4 + 2 * (house.engine.ledger.last_seq() - seq)


def test_the_rate_of_starts_makes_room_again_after_a_minute(house: House) -> None:
    heart = house.heart(box=NO_BOX)
    starts = Starts(heart, 5, 2, Clocks())
    now = heart.clock.now()
    assert starts.room_at(now) == now
    goal = house.goal_now(house.goal())
    from loopx_engine.model.actor import Actor

    bot = house.get(Actor, house.agent(""))
    for _ in range(2):
        starts.driver(goal, bot, None)
    room = starts.room_at(heart.clock.now())
    assert room is not None
    assert 59_000 < room - now < 61_000
    assert starts.room_at(now + 61_000) == now + 61_000


def test_a_clock_that_was_set_back_does_not_stop_starts_for_ever(house: House) -> None:
    heart = house.heart(box=NO_BOX)
    starts = Starts(heart, 5, 1, Clocks())
    from loopx_engine.model.actor import Actor

    starts.driver(house.goal_now(house.goal()), house.get(Actor, house.agent("")), None)
    yesterday = heart.clock.now() - 86_400_000
    assert starts.room_at(yesterday) == yesterday


@pytest.mark.real
@pytest.mark.parametrize("error", [OSError(5, "the disk"), TryAgain("busy"), RuntimeError("odd"), KeyError("x")])
def test_a_goal_whose_look_fails_holds_up_no_other_and_is_not_tried_in_a_loop(
    house: House, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    (bad, _), (_good, todo) = several(house, 2, "done(title)")
    from loopx_engine.heartbeat import looking

    whole, tries = looking.needs_preparing, []

    def failing(heart: object, goal: object) -> bool:
        if getattr(goal, "id", "") == bad:
            tries.append(goal)
            raise error
        return whole(heart, goal)  # type: ignore[arg-type]

    monkeypatch.setattr("loopx_engine.heartbeat.looking.needs_preparing", failing)
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "done"
    assert len(tries) == 1
    assert any(item["event"] == "engine.refused" and item.get("goal") == bad for item in house.events)


@pytest.mark.real
@pytest.mark.parametrize("error", [OSError(28, "No space left"), ValueError("odd"), TryAgain("busy")])
def test_a_thread_that_fails_leaves_no_turn_open_and_no_lease(
    house: House, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    goal, todo = house.ready()
    times: list[int] = []

    def failing(*given: object, **more: object) -> None:
        times.append(1)
        raise error

    with monkeypatch.context() as broken:
        broken.setattr("loopx_engine.heartbeat.driver.BoundedFile", failing)
        house.once(box=NO_BOX)
    assert times
    assert house.live(goal) == []
    assert [turn.result for turn in house.turns(goal)] == ["failed"] * 3
    assert house.lease_is_free(todo)
    house.answer(house.asked(goal)[0], "yes")
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "done"


@pytest.mark.real
def test_a_proof_that_could_not_be_written_down_is_made_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    goal, todo = house.ready()
    from loopx_engine.heartbeat import proving

    whole, failed = proving.run_check, []

    def once_failing(*given: object, **more: object) -> object:
        if not failed:
            failed.append(1)
            raise OSError(11, "try again")
        return whole(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("loopx_engine.heartbeat.proving.run_check", once_failing)
    with house.running(box=NO_BOX):
        until(lambda: house.todo_now(todo).state == "done", "the claim to be proved")
    assert len(house.turns(goal)) == 1


@pytest.mark.real
def test_a_turn_whose_thread_died_is_lost_and_asked_about(house: House) -> None:
    goal, _todo = house.ready()
    house.once(box=NO_BOX)
    second = house.todo(goal, "two", check=())
    heart = house.heart(box=NO_BOX)
    actor = house.turns(goal)[0].actor
    house.engine.run("turn begin", {"goal": goal, "todo": second, "attended": True}, heart.agent(actor, goal))
    Scheduler(heart).looking.at(house.goal_now(goal))
    assert [turn.state for turn in house.turns(goal)] == ["settled", "lost"]
    assert [item.cause.partition(":")[0] for item in house.asked(goal)][-1] == "lost_turn"
    assert house.lease_is_free(second)


@pytest.mark.real
def test_an_engine_for_days_keeps_no_thread_and_no_open_file_of_what_is_over(house: House) -> None:
    goal, todo = house.ready("done(title)", check=(), budget="turns=50,days=1")
    with house.running(box=NO_BOX):
        until(lambda: house.todo_now(todo).state == "done", "the first")
        process = psutil.Process()
        threads, files = process.num_threads(), process.num_fds()
        for number in range(6):
            last = house.todo(goal, f"todo {number}", check=())
            until(lambda last=last: house.todo_now(last).state == "done", f"todo {number}")
        until(lambda: process.num_threads() <= threads + 1, "the threads to end")
        assert process.num_fds() <= files + 6, f"{files} -> {process.num_fds()}"


@pytest.mark.real
@pytest.mark.parametrize(("budget", "unit"), [("turns=1,days=1", "turns"), ("turns=9,days=1,tokens=100", "tokens")])
def test_a_budget_that_is_used_up_asks_and_goes_on_when_allowed(house: House, budget: str, unit: str) -> None:
    house.agent("""
        say(type="usage", input=90, output=20)
        with open("a", "a") as file:
            file.write(title)
        done(title)
    """)
    goal = house.goal(budget=budget)
    first, second = house.todo(goal, "one", check=()), house.todo(goal, "two", check=())
    house.resume(goal)
    house.once(box=NO_BOX)
    assert [house.todo_now(item).state for item in (first, second)] == ["done", "open"]
    (asked,) = house.asked(goal)
    assert asked.cause.startswith("budget_spent:")
    assert unit in asked.question
    house.once(box=NO_BOX)
    assert len(house.turns(goal)) == 1
    house.answer(asked, "yes")
    if unit == "tokens":
        house.person.signs("goal edit", goal=goal, budget="tokens=100000")
    house.once(box=NO_BOX)
    assert house.todo_now(second).state == "done"


@pytest.mark.real
def test_a_goal_worked_by_agents_that_come_by_themselves_is_asked_about_too(house: House) -> None:
    house.person.signs("actor add", name="walker", kind="agent")
    goal = house.goal(agent=["walker"], criterion=[["there is an a", ["test", "-e", "a"]]])
    house.resume(goal)
    house.once(box=NO_BOX)
    assert [item.cause.partition(":")[0] for item in house.asked(goal)] == ["ready_to_close"]


@pytest.mark.real
def test_closing_that_was_granted_is_not_asked(house: House) -> None:
    house.agent(SAYS_HO)
    goal = house.goal(criterion=[["a says ho", ["grep", "-q", "ho", "a"]]])
    house.todo(goal, serves=[1])
    house.person.signs("grant add", kind="close", pattern=goal, goal=goal)
    house.resume(goal)
    house.once(box=NO_BOX)
    assert house.goal_now(goal).phase == "done"
    house.sound()


@pytest.mark.real
def test_once_without_anything_to_do_ends_at_once_and_writes_nothing(house: House) -> None:
    seq = house.engine.ledger.last_seq()
    began = time.monotonic()
    house.once(box=NO_BOX)
    assert time.monotonic() - began < 2
    assert house.engine.ledger.last_seq() == seq
