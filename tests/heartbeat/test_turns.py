"""A turn from its packet to its settled end: what an agent's program says and leaves, and what the engine makes of it."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest
from heart_kit import NO_BOX, SAYS_HO, House, need_box, until

from loopx_engine.heartbeat.turn_clock import Clocks
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.todo import Todo

pytestmark = pytest.mark.real


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_a_proved_todo_is_one_commit_on_the_goals_branch(house: House) -> None:
    goal, todo = house.ready()
    house.once()
    assert house.todo_now(todo).proof == "proved"
    assert house.subjects(f"loopx/{goal}") == ["Write ho", "begin"]
    trailers = house.git("log", "-1", "--format=%(trailers)", f"loopx/{goal}")
    assert f"LoopX-Todo: {todo}" in trailers
    assert "LoopX-Receipt: r-" in trailers
    assert house.git("status", "--porcelain") == ""
    assert (house.root / "a").read_text(encoding="utf-8") == "hi\n"
    house.sound()


def test_a_false_done_is_refused_and_mended_in_the_same_turn(house: House) -> None:
    goal, todo = house.ready("""
        done("it is done, believe me")
        answer = hear()
        assert answer["type"] == "refused" and answer["exit"] == 1
        write("a", "ho\\n")
        done("now it is")
    """)
    house.once()
    (turn,) = house.turns(goal)
    assert (turn.result, turn.mends) == ("done", 1)
    assert house.todo_now(todo).state == "done"


def test_the_refusal_carries_the_last_lines_of_the_check(house: House) -> None:
    check = ("sh", "-c", "echo the reason is here; grep -q ho a")
    goal, _ = house.ready('done("x"); say(type="note", text=hear()["tail"]); write("a", "ho"); done("y")', check=check)
    house.once()
    assert "[note] the reason is here" in house.transcript(house.turns(goal)[0])


def test_after_three_mends_the_claim_is_refused_and_the_turn_ends(house: House) -> None:
    goal, todo = house.ready("""
        while True:
            done("again")
            if hear()["type"] != "refused":
                break
    """)
    house.once()
    first = house.turns(goal)[0]
    assert (first.state, first.result, first.mends) == ("settled", "refused", 3)
    now = house.todo_now(todo)
    assert now.state == "open"
    assert now.failures == len(house.turns(goal))
    assert house.lease_is_free(todo)


def test_turns_without_progress_end_in_a_question_that_lets_it_be_tried_again(house: House) -> None:
    goal, todo = house.ready("sys.exit(0)")
    house.once()
    assert [turn.result for turn in house.turns(goal)] == ["progress"] * 3
    (asked,) = house.asked(goal)
    assert asked.cause.startswith("stalled:")
    house.once()
    assert len(house.turns(goal)) == 3
    house.program("bot", SAYS_HO)
    house.answer(asked, "yes")
    house.once()
    assert house.todo_now(todo).state == "done"


def test_exit_0_without_a_claim_is_progress_and_anything_else_failed(house: House) -> None:
    goal, todo = house.ready("""
        number = len(pathlib.Path("a").read_text())
        with open("a", "a") as file:
            file.write("more\\n")
        if number > 10:
            write("a", "ho\\n")
            done("at last")
        elif number > 5:
            print("it hurts here", file=sys.stderr)
            sys.exit(3)
    """)
    house.once()
    assert [turn.result for turn in house.turns(goal)] == ["progress", "failed", "done"]
    assert house.turns(goal)[1].reason == "exit 3: it hurts here"
    assert house.todo_now(todo).failures == 1


def test_nothing_is_claimed_by_exiting(house: House) -> None:
    _goal, todo = house.ready('write("a", "ho\\n")')
    house.once()
    assert house.todo_now(todo).state == "open"
    assert house.subjects("main") == ["begin"]


def test_a_program_that_is_missing_fails_clearly_and_a_bounded_number_of_times(house: House) -> None:
    house.person.signs("actor add", name="ghost", runtime="command", argv=["no-such-program-of-anybody"])
    goal = house.goal()
    todo = house.todo(goal)
    house.resume(goal)
    house.once()
    turns = house.turns(goal)
    assert [turn.result for turn in turns] == ["failed"] * 3
    assert "no-such-program-of-anybody" in turns[0].reason
    assert [item.cause.partition(":")[0] for item in house.asked(goal)] == ["stalled"]
    assert "no-such-program-of-anybody" in house.asked(goal)[0].why
    assert house.lease_is_free(todo)


def test_a_program_that_the_box_cannot_run_says_so(house: House) -> None:
    need_box()
    script = house.folder / "not-executable"
    script.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    script.chmod(0o755)
    house.person.signs("actor add", name="ghost", runtime="command", argv=[str(script)])
    goal = house.goal()
    house.todo(goal)
    house.resume(goal)
    house.once()
    assert "No such file or directory" in house.turns(goal)[0].reason


SAID = {
    "an outcome that is a list": """'{"type": "result", "outcome": ["done"]}'""",
    "an outcome nobody knows": """'{"type": "result", "outcome": "perfect"}'""",
    "a cost past every number": """'{"type": "usage", "input": -1, "cost": "1e999999"}'""",
    "a cost that is no number": """'{"type": "usage", "cost": "NaN"}'""",
    "a note without text": """'{"type": "note"}'""",
    "a type that is a list": """'{"type": ["note"], "text": "x"}'""",
    "an empty question": """'{"type": "ask", "question": ""}'""",
    "an act nobody knows": """'{"type": "ask", "id": "q", "question": "?", "effect": {"action": "format"}}'""",
    "a push of options": """'{"type": "ask", "question": "?", "effect": {"action": "push", "remote": "../x", "ref": "-f"}}'""",
    "evidence of no kind": """'{"type": "evidence", "kind": "nonsense", "ref": "x"}'""",
    "an unknown successor": """'{"type": "result", "outcome": "done", "successor": "t-999"}'""",
    "half a character in a summary": r"""'{"type": "result", "outcome": "done", "summary": "\\ud800 alone"}'""",
    "half a character in a note": r"""'{"type": "note", "text": "\\ud800"}'""",
    "half a character in evidence": r"""'{"type": "evidence", "kind": "note", "ref": "\\ud800\\u0000"}'""",
    "half a character in a question": r"""'{"type": "ask", "id": "q", "question": "\\ud800?"}'""",
    "brackets without end": """'{"type": ' + '[' * 100_000""",
    "a line of two million characters": """'{"type": "note", "text": "' + 'x' * 2_000_000 + '"}'""",
    "control sequences": r"""'\x1b[2J\x00\x07'""",
    "numbers past every size": """'{"type": "usage", "input": ' + '9' * 10_000 + '}'""",
}


@pytest.mark.parametrize("what", SAID)
def test_whatever_a_program_says_the_work_goes_on(house: House, what: str) -> None:
    goal, todo = house.ready(f"print({SAID[what]}, flush=True)\n{SAYS_HO}")
    house.once(box=NO_BOX)
    turns = house.turns(goal)
    assert house.todo_now(todo).state == "done", (turns, house.transcript(turns[0])[:2000])
    assert len(turns) == 1
    house.sound()


def test_a_transcript_is_private_and_bounded(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopx_engine.heartbeat.driver.TRANSCRIPT_BYTES", 20_000)
    goal, todo = house.ready(f"for n in range(20000): print('line', n)\n{SAYS_HO}")
    house.once()
    path = house.home / "transcripts" / f"{house.turns(goal)[0].id}.log"
    assert path.stat().st_size <= 20_000
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert house.todo_now(todo).state == "done"


def test_usage_is_added_up_and_what_was_not_said_stays_unknown(house: House) -> None:
    goal, _ = house.ready(f"""
        say(type="usage", input=100, output=5)
        say(type="usage", input=11, output=6)
        {SAYS_HO}
    """)
    house.once()
    (turn,) = house.turns(goal)
    assert (turn.input_tokens, turn.output_tokens, turn.cost) == (111, 11, None)


def test_a_note_of_evidence_is_kept_beside_the_checks(house: House) -> None:
    goal, _ = house.ready(f'say(type="evidence", kind="url", ref="https://example.org/1", note="seen")\n{SAYS_HO}')
    house.once()
    found = house.records(Evidence, "evidence.of_goal", goal=goal, limit=20)
    assert {item.kind for item in found} == {"url", "check", "commit"}


def test_a_program_that_does_not_leave_when_its_turn_is_settled_is_ended(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loopx_engine.heartbeat.driver.LEAVE_S", 0.3)
    goal, todo = house.ready(f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{SAYS_HO}\nwhile True: time.sleep(1)")
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "done"
    assert house.processes(goal) == []


def test_the_last_line_of_a_program_that_left_at_once_is_heard(house: House) -> None:
    _goal, todo = house.ready(f"sys.stdout.write('x\\n' * 5000); {SAYS_HO}; os._exit(0)")
    house.once()
    assert house.todo_now(todo).state == "done"


def test_a_turn_that_says_nothing_is_ended(house: House) -> None:
    goal, _ = house.ready("time.sleep(600)")
    with house.running(clocks=Clocks(silence=400)):
        turn = until(lambda: next((t for t in house.turns(goal) if not t.live), None), "the turn to end")
    assert turn.result == "interrupted"
    assert "nothing was heard" in turn.reason
    assert house.processes(goal) == []


def test_a_turn_whose_time_is_over_is_ended_however_much_it_says(house: House) -> None:
    goal, _ = house.ready("while True: print(time.time(), flush=True); time.sleep(0.05)")
    with house.running(clocks=Clocks(wall=700)):
        turn = until(lambda: next((t for t in house.turns(goal) if not t.live), None), "the turn to end")
    assert turn.result == "interrupted"
    assert "time of 0.7 s is over" in turn.reason


def test_a_turn_that_repeats_itself_is_ended_and_what_it_repeats_is_named(house: House) -> None:
    goal, _ = house.ready('while True: say(type="note", text="grep foo bar"); time.sleep(0.01)')
    with house.running(clocks=Clocks(repeats=5)):
        turn = until(lambda: next((t for t in house.turns(goal) if not t.live), None), "the turn to end")
    assert turn.result == "interrupted"
    assert "grep foo bar" in turn.reason


def test_a_program_that_is_asked_to_stop_may_still_say_what_it_did(house: House) -> None:
    goal, _ = house.ready("""
        if not os.path.exists("b"):
            write("b", "half")
            while hear()["type"] != "stop":
                pass
            say(type="result", outcome="progress", summary="half of it is in b")
    """)
    with house.running(clocks=Clocks(silence=400)):
        turn = until(lambda: next((t for t in house.turns(goal) if not t.live), None), "the turn to end")
    assert (turn.result, turn.summary) == ("progress", "half of it is in b")


def test_the_clocks_stand_still_while_a_question_is_open(house: House) -> None:
    goal, todo = house.ready(f"""
        say(type="ask", id="q", question="which one?", options=["this", "that"])
        answer = hear()
        say(type="note", text=f"answered {{answer['option']}}")
        {SAYS_HO}
    """)
    with house.running(clocks=Clocks(silence=700, wall=4000)):
        asked = until(lambda: house.asked(goal), "the question")[0]
        begun = house.turns(goal)[0].begun_at
        until(lambda: house.engine.clock.now() > begun + 2500, "more than the silence it may keep")
        assert house.live(goal)
        house.answer(asked, "2")
        until(lambda: house.todo_now(todo).state == "done", "the todo to be done")
    assert "answered 2" in house.transcript(house.turns(goal)[0])


def test_the_time_of_a_proof_is_not_the_agents(house: House) -> None:
    check = ("sh", "-c", "sleep 1.5; grep -q ho a")
    goal, todo = house.ready('done("x"); hear(); write("a", "ho"); done("y")', check=check)
    house.once(clocks=Clocks(silence=1000, wall=2500))
    assert house.todo_now(todo).state == "done"
    assert house.turns(goal)[0].mends == 1


def test_work_outside_its_scopes_is_refused(house: House) -> None:
    house.agent('write("b", "x"); write("a", "ho"); done("x"); hear(); os.remove("b"); done("y")')
    goal = house.goal()
    todo = house.todo(goal, scope=["a"])
    house.resume(goal)
    house.once()
    assert house.turns(goal)[0].mends == 1
    assert house.todo_now(todo).state == "done"


def test_a_goal_without_a_check_ends_done_and_not_proved(house: House) -> None:
    house.agent(SAYS_HO)
    goal = house.goal()
    todo = house.todo(goal, check=())
    house.resume(goal)
    house.once()
    assert (house.todo_now(todo).state, house.todo_now(todo).proof) == ("done", "not proved")


def test_todos_are_worked_in_their_order_each_its_own_commit(house: House) -> None:
    house.agent("""
        with open("a", "a") as file:
            file.write(title + "\\n")
        done(title)
    """)
    goal = house.goal()
    first = house.todo(goal, "one", check=("grep", "-q", "one", "a"))
    second = house.todo(goal, "two", check=("grep", "-q", "two", "a"), needs=[first])
    house.resume(goal)
    house.once()
    assert house.subjects(f"loopx/{goal}") == ["two", "one", "begin"]
    assert [house.todo_now(item).state for item in (first, second)] == ["done", "done"]


def test_without_a_box_every_proof_says_so(house: House) -> None:
    goal, _ = house.ready()
    house.once(box=NO_BOX)
    assert house.turns(goal)[0].sandbox == "none"
    assert {
        item.sandbox for item in house.records(Evidence, "evidence.of_goal", goal=goal, limit=9) if item.kind == "check"
    } == {"none"}


def test_an_agents_own_todo_with_a_check_proves_no_more_than_self_checked(house: House) -> None:
    house.agent(f"""
        if title == "Write ho":
            env = {{**os.environ, "PYTHONPATH": {str(Path(__file__).resolve().parents[2])!r}}}
            loopx = [{sys.executable!r}, "-m", "loopx_engine.cli.main"]
            argv = [*loopx, "todo", "add", packet["goal"]["id"], "mine", "--check", "true"]
            made = subprocess.run(argv, env=env, capture_output=True, text=True)
            print(made.stdout, made.stderr, flush=True)
        {SAYS_HO}
    """)
    goal = house.goal()
    house.todo(goal)
    house.resume(goal)
    need_box()
    house.once()
    todos = {todo.title: todo for todo in house.records(Todo, "todo.of_goal", goal=goal, limit=9)}
    assert todos["mine"].proof == "self-checked", house.transcript(house.turns(goal)[0])
