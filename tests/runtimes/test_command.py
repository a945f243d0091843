"""The `command` runtime: what a line means, and a program as a process that is spoken with over pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_engine.errors import Refused
from loopx_engine.model.actor import Actor
from loopx_engine.places.processes import alive, end_tree
from loopx_engine.runtimes.command import CommandRuntime, CommandTurn, parse_line
from loopx_engine.runtimes.protocol import Ask, Ended, Event, Note, Produced, Result, Start, Text, Usage


def line(**said: Any) -> Event:
    return parse_line(json.dumps(said))


class TestLines:
    def test_a_note(self) -> None:
        assert line(type="note", text="half") == Note(text="half")

    def test_a_result_with_everything(self) -> None:
        said = {"outcome": "done", "result": "pass", "summary": "s", "successor": "t-2", "no_successor": "n"}
        assert line(type="result", **said) == Result(
            outcome="done", result="pass", summary="s", successor="t-2", no_successor="n"
        )

    @pytest.mark.parametrize("outcome", ["done", "progress", "blocked", "failed"])
    def test_the_four_outcomes(self, outcome: str) -> None:
        assert line(type="result", outcome=outcome) == Result(outcome=outcome)

    @pytest.mark.parametrize("outcome", ["", "DONE", "refused", None, 1, ["done"], {"done": 1}, True])
    def test_any_other_outcome_is_text(self, outcome: object) -> None:
        assert isinstance(line(type="result", outcome=outcome), Text)

    @pytest.mark.parametrize(
        ("cost", "expected"),
        [
            (0.25, 250_000), ("0.000001", 1), (3, 3_000_000), (None, None), ("x", None), (-1, None), (True, None), ([], None),
            ("NaN", None), ("Infinity", None), ("1e999999999", None), ("1e999999", None), (1e300, None), ("1" * 5000, None),
        ],
    )  # fmt: skip
    def test_a_cost_in_millionths_or_unknown(self, cost: object, expected: int | None) -> None:
        assert line(type="usage", input=1, output=2, cost=cost) == Usage(input=1, output=2, cost=expected)

    @pytest.mark.parametrize("count", [-1, 1.5, "7", None, True, 2**53, [], {}])
    def test_a_count_that_is_none_is_unknown(self, count: object) -> None:
        assert line(type="usage", input=count) == Usage(input=None, output=None)

    def test_a_question_with_options_and_an_act(self) -> None:
        asked = line(
            type="ask", id="q1", question="?", why="w", options=["a", 2], effect={"action": "push"}, blocks=True
        )
        assert asked == Ask(ref="q1", question="?", why="w", options=("a", "2"), effect={"action": "push"}, blocks=True)

    def test_options_and_acts_of_other_types_are_left_out(self) -> None:
        assert line(type="ask", question="?", options="ab", effect=["push"], id=7) == Ask(ref="7", question="?")

    def test_at_most_nine_options(self) -> None:
        asked = line(type="ask", question="?", options=[str(n) for n in range(50)])
        assert isinstance(asked, Ask)
        assert len(asked.options) == 9

    def test_evidence(self) -> None:
        assert line(type="evidence", kind="url", ref="r", note="n") == Produced(kind="url", ref="r", note="n")

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "plain",
            "{",
            "{}",
            "[]",
            '{"type": 1}',
            '{"type": "unknown"}',
            '{"type": "note", "text": 1}',
            "null",
            '"x"',
            "{" * 99_999,
        ],
    )
    def test_everything_else_is_text_as_it_came(self, text: str) -> None:
        assert parse_line(text) == Text(text=text)

    def test_spaces_before_an_object_do_not_hide_it(self) -> None:
        assert parse_line('  {"type": "note", "text": "x"}') == Note(text="x")

    @given(st.text())
    def test_no_text_raises(self, text: str) -> None:
        parse_line(text)

    @given(
        st.dictionaries(
            st.sampled_from(["type", "text", "outcome", "question", "options", "effect", "kind", "ref", "input", "cost", "id"]),
            st.one_of(
                st.sampled_from(["note", "usage", "ask", "evidence", "result", "done"]),
                st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text()),
                st.dictionaries(st.text(), st.integers()),
            ),
        )
    )  # fmt: skip
    def test_no_object_raises_and_every_word_can_be_written(self, said: dict[str, Any]) -> None:
        event = parse_line(json.dumps(said))
        for name in ("text", "summary", "question", "why", "ref", "note", "kind"):
            str(getattr(event, name, "")).encode("utf-8", "surrogatepass")


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Any]:
    made: list[CommandTurn] = []

    def start(program: str, packet: dict[str, Any] | None = None) -> CommandTurn:
        path = tmp_path / "agent.py"
        path.write_text(program, encoding="utf-8")
        argv = (sys.executable, str(path))
        actor = Actor(id="a-9", kind="agent", name="bot", runtime="command", argv=argv, created_at=0)
        request = Start(
            actor=actor,
            packet=packet or {"todo": None},
            place=tmp_path,
            argv=argv,
            environment=dict(os.environ),
            tag=f"test/{tmp_path.name}",
        )
        turn = CommandRuntime().start(request)
        made.append(turn)
        return turn

    yield start
    for turn in made:
        turn.close()
        end_tree(f"test/{tmp_path.name}", (turn.root,), grace_s=0.1)


def events(turn: CommandTurn, deadline_s: float = 15.0) -> list[Event]:
    """All events up to the end."""
    found: list[Event] = []
    ends = time.monotonic() + deadline_s
    while time.monotonic() < ends:
        event = turn.next_event(0.1)
        if event is not None:
            found.append(event)
        if isinstance(event, Ended):
            return found
    raise AssertionError(f"no end within {deadline_s} s: {found[-3:]}")


@pytest.mark.real
class TestProcess:
    def test_the_packet_comes_first_and_then_what_is_said_in_order(self, started: Any) -> None:
        turn = started(
            "import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)", {"todo": {"id": "t-1"}}
        )
        turn.answer("q", "yes", "")
        turn.answer("q", "2", "words")
        turn.refused("k-1", 1, "tail")
        turn.ask_to_stop(3.0)
        turn.close()
        said = [json.loads(item.text.removeprefix("got ")) for item in events(turn) if isinstance(item, Text)]
        assert said == [
            {"todo": {"id": "t-1"}},
            {"type": "answer", "ask": "q", "option": "yes"},
            {"type": "answer", "ask": "q", "option": "2", "text": "words"},
            {"type": "refused", "check": "k-1", "exit": 1, "tail": "tail"},
            {"type": "stop", "grace_s": 3},
        ]

    @pytest.mark.parametrize(("code", "failure"), [(0, ""), (3, "exit"), (127, "missing"), (126, "missing")])
    def test_the_end_says_how(self, started: Any, code: int, failure: str) -> None:
        end = events(started(f"raise SystemExit({code})"))[-1]
        assert isinstance(end, Ended)
        assert (end.exit, end.failure) == (code, failure)

    def test_a_death_by_signal_is_a_failure(self, started: Any) -> None:
        end = events(started("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))[-1]
        assert isinstance(end, Ended)
        assert (end.exit, end.failure) == (-9, "exit")

    def test_the_end_is_repeated(self, started: Any) -> None:
        turn = started("")
        end = events(turn)[-1]
        assert turn.next_event(0) == end
        assert turn.next_event(0) == end

    def test_the_last_of_many_lines_is_not_lost(self, started: Any) -> None:
        turn = started("print('x\\n' * 20000 + 'the last'); import os; os._exit(0)")
        found = events(turn)
        assert found[-2] == Text(text="the last")
        assert len(found) == 20_003 - 1

    def test_a_child_that_holds_the_output_open_does_not_hold_the_end(self, started: Any) -> None:
        turn = started("import subprocess; subprocess.Popen(['sleep', '60']); print('bye', flush=True)")
        found = events(turn)
        assert Text(text="bye") in found
        assert isinstance(found[-1], Ended)

    def test_errors_and_output_come_by_one_way(self, started: Any) -> None:
        found = events(started("import sys; print('out', flush=True); print('err', file=sys.stderr)"))
        assert found[:2] == [Text(text="out"), Text(text="err")]

    def test_bytes_that_are_no_text_become_text(self, started: Any) -> None:
        found = events(started("import os; os.write(1, b'\\xff\\xfe\\r\\n\\x00')"))
        assert found[0] == Text(text="\ufffd\ufffd")

    def test_a_line_without_end_comes_in_pieces_not_into_memory(self, started: Any) -> None:
        found = events(started("import sys; sys.stdout.write('x' * 5_000_000)"))
        assert sum(len(item.text) for item in found if isinstance(item, Text)) == 5_000_000
        assert len(found) > 2

    def test_a_program_that_never_reads_holds_nobody_up(self, started: Any) -> None:
        turn = started("import time; print('deaf', flush=True); time.sleep(60)")
        began = time.monotonic()
        for _ in range(3000):
            turn.refused("k-1", 1, "x" * 4000)
        assert time.monotonic() - began < 5
        assert turn.next_event(10) == Text(text="deaf")

    def test_after_close_threads_and_pipes_are_gone(self, started: Any) -> None:
        """Also when nobody listens any more to a program that says more than the queue holds."""
        before = threading.active_count()
        files = psutil.Process().num_fds()
        turn = started("import sys\nwhile True: print('x' * 100)")
        assert turn.next_event(10) is not None
        turn.close()
        end_tree("", (turn.root,), grace_s=0.1)
        ends = time.monotonic() + 10
        while threading.active_count() > before and time.monotonic() < ends:
            time.sleep(0.02)
        assert threading.active_count() == before
        assert psutil.Process().num_fds() == files
        assert not alive(turn.root)

    def test_the_root_is_the_process_in_a_session_of_its_own(self, started: Any) -> None:
        turn = started("import os, sys; print(os.getpid(), os.getsid(0), flush=True); sys.stdin.read()")
        said = turn.next_event(10)
        assert said == Text(text=f"{turn.root.pid} {turn.root.pid}")
        assert alive(turn.root)


class TestProbe:
    def actor(self, *argv: str) -> Actor:
        return Actor(id="a-9", kind="agent", name="bot", runtime="command", argv=argv, created_at=0)

    def test_a_program_that_is_there(self) -> None:
        assert CommandRuntime().probe(self.actor("sh", "-c", "x")).endswith("/sh")

    @pytest.mark.parametrize("argv", [(), ("",), ("no-such-program",), ("/no/such/file",)])
    def test_a_program_that_is_not(self, argv: tuple[str, ...]) -> None:
        with pytest.raises(Refused) as refused:
            CommandRuntime().probe(self.actor(*argv))
        assert refused.value.code == "runtime_missing"
        assert "bot" in refused.value.message

    def test_starting_one_that_is_not_there_raises_what_the_system_says(self, tmp_path: Path) -> None:
        request = Start(
            actor=self.actor("x"), packet={}, place=tmp_path, argv=("/no/such/file",), environment={}, tag="test"
        )
        with pytest.raises(FileNotFoundError):
            CommandRuntime().start(request)
        assert subprocess.run(["true"], check=False).returncode == 0
