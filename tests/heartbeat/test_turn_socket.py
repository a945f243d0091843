"""The turn's tools in a box: the command `loopx` through the turn's socket, under the turn's token and no other."""

from __future__ import annotations

import json
import socket
import stat
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
from heart_kit import SAYS_HO, House, need_box
from support import ROOT

from loopx_engine.commands.verbs import TABLE, Verb, authority_of
from loopx_engine.heartbeat.turn_socket import REQUEST_BYTES, TurnSocket
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn

LOOPX = f"""
def loopx(*arguments, **environ):
    env = {{**os.environ, "PYTHONPATH": {str(ROOT)!r}, **environ}}
    env = {{name: value for name, value in env.items() if value}}
    ran = subprocess.run([{sys.executable!r}, "-m", "loopx_engine.cli.main", *arguments], env=env, capture_output=True, text=True)
    print("LOOPX", json.dumps([ran.returncode, ran.stdout, ran.stderr]), flush=True)
    return ran
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def calls(house: House, goal: str) -> list[tuple[int, str, str]]:
    """What each `loopx` call of the goal's turns came to."""
    said = "".join(house.transcript(turn) for turn in house.turns(goal))
    return [tuple(json.loads(line.removeprefix("LOOPX "))) for line in said.splitlines() if line.startswith("LOOPX ")]


@pytest.mark.real
def test_the_tools_of_a_boxed_turn_work_through_its_socket(house: House) -> None:
    need_box()
    goal, todo = house.ready(f"""
        {LOOPX.replace(chr(10), chr(10) + "        ")}
        if title != "Write ho":
            done("looked")
            sys.exit(0)
        loopx("next", "--json")
        loopx("show", packet["todo"]["id"], "--json")
        loopx("todo", "add", packet["goal"]["id"], "look at b", "--json")
        write("a", "ho\\n")
        loopx("turn", "finish", packet["turn"], "--outcome", "done", "--summary", "by hand", "--no-successor", "none", "--json")
        while hear()["type"] != "closed":
            pass
    """)
    house.once()
    came = calls(house, goal)
    assert [code for code, _, _ in came[:4]] == [0, 0, 0, 0], came
    assert json.loads(came[0][1])["kind"] == "resume"
    assert json.loads(came[3][1])["state"] == "done"
    added = [item for item in house.records(Todo, "todo.of_goal", goal=goal, limit=9) if item.title == "look at b"]
    assert [item.signed for item in added] == [False]
    assert house.todo_now(todo).state == "done"
    assert house.turns(goal)[0].summary == "by hand"


@pytest.mark.real
def test_a_claim_through_the_socket_is_refused_with_the_checks_words_and_mended(house: House) -> None:
    need_box()
    check = ("sh", "-c", "grep ho a || { echo no ho; exit 1; }")
    goal, todo = house.ready(
        f"""
        {LOOPX.replace(chr(10), chr(10) + "        ")}
        finish = ["turn", "finish", packet["turn"], "--outcome", "done", "--summary", "x", "--no-successor", "y", "--json"]
        loopx(*finish)
        write("a", "ho\\n")
        loopx(*finish)
    """,
        check=check,
    )
    house.once()
    first, second = calls(house, goal)[:2]
    assert first[0] == 8
    assert json.loads(first[1])["state"] == "refused"
    assert "no ho" in json.loads(first[1])["tail"]
    assert second[0] == 0
    assert house.todo_now(todo).state == "done"


@pytest.mark.real
def test_without_its_token_or_with_a_wrong_one_a_turn_is_nobody(house: House) -> None:
    need_box()
    goal, _ = house.ready(f"""
        {LOOPX.replace(chr(10), chr(10) + "        ")}
        loopx("todo", "add", packet["goal"]["id"], "planted", LOOPX_TOKEN="")
        loopx("goal", "pause", packet["goal"]["id"], LOOPX_TOKEN="")
        loopx("todo", "add", packet["goal"]["id"], "planted", LOOPX_TOKEN="loopx-turn-guessed")
        loopx("next", LOOPX_TOKEN="", LOOPX_SOCKET="")
        {SAYS_HO}
    """)
    house.once()
    came = calls(house, goal)
    assert len(came) == 4
    assert all(code != 0 for code, _, _ in came[:3]), came
    titles = {item.title for item in house.records(Todo, "todo.of_goal", goal=goal, limit=9)}
    assert titles == {"Write ho"}
    assert house.goal_now(goal).phase == "active"


class Line:
    """A raw client of a turn's socket."""

    def __init__(self, path: Path) -> None:
        self._link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._link.settimeout(10)
        self._link.connect(str(path))
        self._file = self._link.makefile("rwb")

    def says(self, data: bytes) -> dict[str, Any]:
        self._file.write(data + b"\n")
        self._file.flush()
        answer: dict[str, Any] = json.loads(self._file.readline())
        return answer

    def asks(self, **request: object) -> dict[str, Any]:
        return self.says(json.dumps(request).encode())

    def close(self) -> None:
        self._file.close()
        self._link.close()


class Open:
    """A house with two open turns (of two agents on two goals) and the socket of the first."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.heart = house.heart()
        self.turns: list[Turn] = []
        self.tokens: list[str] = []
        for name in ("one", "two"):
            actor = house.agent("", name)
            goal = house.goal(name, agent=[name])
            todo = house.todo(goal, check=())
            house.resume(goal)
            self.heart.act("place make", goal=goal, kind="directory", path=str(house.root), branch="")
            self.heart.act("place settle", place=house.place(goal).id, state="ready")
            begun = house.engine.run("turn begin", {"goal": goal, "todo": todo}, self.heart.agent(actor, goal))
            self.turns.append(house.get(Turn, str(begun.answer["turn"])))
            self.tokens.append(begun.reveal["token"])
        self.socket = TurnSocket(self.heart, self.turns[0])
        self.line = Line(self.socket.path)

    def close(self) -> None:
        self.line.close()
        self.socket.close()


@pytest.fixture
def opened(house: House) -> Any:
    made = Open(house)
    yield made
    made.close()


def test_the_socket_is_private_and_gone_with_its_turn(opened: Open) -> None:
    path = opened.socket.path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    opened.close()
    assert not path.exists()


def test_the_token_of_another_turn_is_refused(opened: Open) -> None:
    answer = opened.line.asks(call="read", name="next", arguments={}, token=opened.tokens[1])
    assert answer["error"]["code"] == "not_your_turn"


@pytest.mark.parametrize("token", [None, "", 7, ["x"], "x" * 100_000])
def test_a_request_without_a_good_token_is_refused(opened: Open, token: object) -> None:
    answer = opened.line.asks(call="run", verb="goal pause", arguments={"goal": opened.turns[0].goal}, token=token)
    assert answer["error"]["exit"] == 3
    assert opened.house.goal_now(opened.turns[0].goal).phase == "active"


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"7", b"[" * 50_000, b'{"call": "run"}',
        b'{"call": ["run"]}', b"{" * 10_000,
    ],
)  # fmt: skip
def test_whatever_is_said_gets_an_error_and_the_next_request_an_answer(opened: Open, data: bytes) -> None:
    assert "error" in opened.line.says(data)
    assert "ok" in opened.line.asks(call="read", name="next", arguments={}, token=opened.tokens[0])


@pytest.mark.parametrize(
    "arguments", [None, [], "x", {"nonsense": 1}, {"id": ["x"]}, {"id": {"a": 1}}, {"limit": "many"}]
)
@pytest.mark.parametrize(
    "name", ["next", "show", "list", "why", "history", "search", "inbox", "status", "nonsense", "__init__"]
)
def test_reads_with_wrong_arguments_are_answered(opened: Open, name: str, arguments: object) -> None:
    answer = opened.line.asks(call="read", name=name, arguments=arguments, token=opened.tokens[0])
    assert ("ok" in answer) != ("error" in answer)
    if "error" in answer:
        assert answer["error"]["exit"] in (2, 3, 4), answer


def test_a_request_that_is_too_long_ends_the_connection(opened: Open) -> None:
    answer = opened.line.says(b"x" * (REQUEST_BYTES + 10))
    assert answer["error"]["code"] == "too_long"


def test_a_turns_reads_end_at_its_goal(opened: Open) -> None:
    other = opened.turns[1]
    for name, arguments in (("show", {"id": other.goal}), ("show", {"id": other.todo}), ("why", {"id": other.todo})):
        answer = opened.line.asks(call="read", name=name, arguments=arguments, token=opened.tokens[0])
        assert answer.get("error", {}).get("exit") in (3, 4), (name, answer)


def test_the_token_dies_with_the_turn(opened: Open) -> None:
    token = opened.tokens[0]
    given = {"turn": opened.turns[0].id, "reason": "enough"}
    assert "ok" in opened.line.asks(call="run", verb="turn abandon", arguments=given, token=token)
    answer = opened.line.asks(call="read", name="next", arguments={}, token=token)
    assert answer["error"]["code"] == "turn_ended"
    assert "ok" in opened.line.asks(call="read", name="show", arguments={"id": opened.turns[0].id}, token=token)


def only_for_others(verb: Verb) -> bool:
    return "agent" not in verb.authority


@pytest.mark.parametrize("verb", [verb.name for verb in TABLE if only_for_others(verb)])
def test_every_verb_of_a_person_or_the_engine_is_refused_through_the_socket(opened: Open, verb: str) -> None:
    seq = opened.house.engine.ledger.last_seq()
    answer = opened.line.asks(call="run", verb=verb, arguments=example(opened, verb), token=opened.tokens[0])
    assert answer.get("error", {}).get("exit") == 3, answer
    assert opened.house.engine.ledger.last_seq() == seq


WORDS: dict[str, dict[str, Any]] = {
    "todo split": {"into": ["a", "b"]},
    "place make": {"kind": "directory"},
    "place settle": {"state": "broken"},
    "decision settle": {"state": "void", "outcome": "x"},
    "effect settle": {"state": "done"},
    "criterion prove": {"outcome": "pass"},
    "turn end": {"result": "failed"},
    "grant add": {"kind": "push"},
}


def example(opened: Open, verb: str) -> dict[str, Any]:
    """Arguments that would do for the verb, if it were allowed."""
    turn = opened.turns[0]
    known: dict[str, Any] = {
        "goal": turn.goal, "todo": turn.todo, "turn": turn.id, "actor": turn.actor, "place": turn.place, "decision": "d-1",
        "criterion": "c-1", "check": "k-1", "effect": "x-1", "grant": "gr-1", "project": opened.house.project,
        "receipt": "r-2", "subject": turn.todo, "argv": ["true"], "pattern": "*", "option": "yes", "due": 0, "pid": 1,
        "until": 0, "baseline": "green", "root": str(opened.house.root), "path": str(opened.house.root),
    }  # fmt: skip
    command = next(item for item in TABLE if item.name == verb).load()
    wanted = [field.name for field in fields(command) if field.default is MISSING and field.default_factory is MISSING]
    given = {name: known.get(name, "x") for name in wanted} | WORDS.get(verb, {})
    return given | ({"goal": turn.goal} if verb == "stop" else {})


def test_the_table_of_verbs_names_some_for_agents(opened: Open) -> None:
    mine = [verb for verb in TABLE if not only_for_others(verb)]
    assert {"turn finish", "todo add", "decision ask"} <= {verb.name for verb in mine}
    assert all(authority_of(verb, object()) for verb in mine)
