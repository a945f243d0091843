"""Every `--json` output of every command is its published schema: real calls, validated twice (jsonschema and pydantic)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from cli.calls import House, git_project
from support import ROOT

from loopx_engine.commands.verbs import TABLE
from loopx_engine.contracts.cli_json import ANSWERS, model_of
from loopx_engine.contracts.schemas import DRAFT, schema_names, schema_of
from loopx_engine.errors import NotFound

ELSEWHERE = {"owner init", "owner rotate", "turn begin", "turn finish", "stop"}
WORK = """
import json, sys
packet = json.loads(sys.stdin.readline())
open("a", "w").write("ho\\n")
print(json.dumps({"type": "result", "outcome": "done", "summary": "wrote ho", "no_successor": "that is all"}), flush=True)
for line in sys.stdin:
    pass
"""


def test_every_verb_that_can_be_called_has_one_shape_and_none_else() -> None:
    callable_by_words = {verb.name for verb in TABLE if set(verb.authority) != {"engine"}}
    assert set(ANSWERS) == callable_by_words - ELSEWHERE


@pytest.mark.parametrize("name", schema_names())
def test_each_schema_is_a_valid_schema_and_closed(name: str) -> None:
    schema = schema_of(name)
    assert schema["$schema"] == DRAFT
    jsonschema.Draft202012Validator.check_schema(schema)
    if not name.startswith("command."):
        assert schema["additionalProperties"] is False
        assert schema["required"][0] == "schema"
        assert schema["properties"]["schema"]["const"] == f"loopx.{name}/1"
    json.dumps(schema)


@pytest.mark.parametrize("name", ["", "nothing", "goal add", "../status", "command.packet"])
def test_an_unknown_schema_is_not_found(name: str) -> None:
    with pytest.raises(NotFound):
        schema_of(name)


def test_no_schema_has_room_for_the_hash_of_a_token() -> None:
    for name in schema_names():
        assert "token_hash" not in json.dumps(schema_of(name))


@pytest.mark.parametrize(
    "broken",
    [{}, {"schema": "loopx.backup/1"}, {"file": 1}, {"more": 1}, {"schema": "loopx.goal/1"}, {"receipts": "3"}],
)
def test_a_schema_refuses_what_is_not_its_own(broken: dict[str, Any]) -> None:
    good = {"schema": "loopx.backup/1", "file": "x", "receipts": 3}
    jsonschema.validate(good, schema_of("backup"))
    bad = broken if len(broken) != 1 or not set(broken) & {"file", "more", "schema", "receipts"} else {**good, **broken}
    if broken == {"schema": "loopx.backup/1"}:
        bad = broken
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, schema_of("backup"))
    with pytest.raises(ValueError, match="validation error"):
        model_of("backup").model_validate_json(json.dumps(bad))


class Seen:
    """Runs calls with `--json`, checks each answer, and remembers which schemas were seen."""

    def __init__(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        self._house, self._monkeypatch = house, monkeypatch
        self.names: set[str] = set()
        self.tokens: dict[str, str] = {}

    def __call__(self, *words: str, code: int = 0) -> dict[str, Any]:
        said = self._house.do(*words, "--json")
        assert said.code == code, (words, said)
        return self.check(said.out)

    def check(self, out: str) -> dict[str, Any]:
        assert out.count("\n") == 1, "one object, one line"
        body: dict[str, Any] = json.loads(out)
        assert next(iter(body)) == "schema"
        name = body["schema"].removeprefix("loopx.").removesuffix("/1")
        jsonschema.validate(body, schema_of(name), cls=jsonschema.Draft202012Validator)
        model_of(name).model_validate_json(out)
        self.names.add(name)
        return body

    def answer(self, decision: str, option: str, *more: str) -> dict[str, Any]:
        basis = self("show", decision)["item"]["basis"]
        self("answer", decision, option, "--basis", basis, *more, "--dry-run")
        return self("answer", decision, option, "--basis", basis, *more)

    def while_waiting(self, act: Callable[[], str]) -> None:
        """What happens the first time a call waits for something to change."""
        left = [act]

        def sleep(seconds: float) -> None:
            while left:
                self.check(left.pop()())

        self._monkeypatch.setattr("loopx_engine.cli.looking.time", SimpleNamespace(sleep=sleep))

    def with_passphrase(self, line: bytes, *words: str) -> None:
        reader, writer = os.pipe()
        os.write(writer, line)
        os.close(writer)
        self._monkeypatch.setenv("LOOPX_PASSPHRASE_FD", str(reader))
        self(*words)
        self._monkeypatch.delenv("LOOPX_PASSPHRASE_FD")

    def code(self, *words: str) -> int:
        return self._house.do(*words).code

    def as_agent(self, token: str) -> None:
        self._monkeypatch.setenv("LOOPX_TOKEN", token)

    def as_person(self) -> None:
        self._monkeypatch.delenv("LOOPX_TOKEN", raising=False)


@pytest.mark.real
def test_every_output_of_every_command_is_its_schema(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(git_project(tmp_path / "shop-api"))
    seen = Seen(house, monkeypatch)
    _by_a_person(seen)
    _asked_and_proposed(seen)
    _by_agents(seen)
    _by_the_engine(seen, tmp_path)
    _kept(seen, tmp_path)
    published = {name for name in schema_names() if not name.startswith("command.")}
    unseen = {"engine.run"} if find_spec("bcrypt") else {"engine.run", "owner.protect"}
    assert published - seen.names == unseen, "engine.run has the shape of engine.once; without bcrypt no key is sealed"


def _by_a_person(seen: Seen) -> None:
    seen("status")
    seen("next", code=4)
    seen("owner", "init", "--no-passphrase", "--dry-run")
    seen("owner", "init", "--no-passphrase")
    for name in ("ada", "bob", "eve"):
        seen.tokens[name] = seen("actor", "add", name, "--kind", "agent")["token"]
    seen("actor", "retire", "eve")
    seen("project", "add", ".")
    seen("project", "setup")
    seen("project", "setup", "--none")
    seen("goal", "add", "Fix it", "--criterion", "by word")
    seen("criterion", "add", "g-1", "given up")
    seen("criterion", "waive", "c-2", "--reason", "not needed")
    seen("criterion", "meet", "c-1", "--reason", "seen")
    for title in ("One", "Two", "Three", "Four"):
        seen("todo", "add", "g-1", title)
    seen("todo", "edit", "t-1", "--body", "more")
    seen("todo", "order", "t-2", "--before", "t-1")
    seen("todo", "split", "t-4", "--into", "Four a", "--into", "Four b")
    seen("undo", seen("todo", "drop", "t-3")["receipt"])
    seen("todo", "drop", "t-3")
    seen("todo", "reopen", "t-3")
    seen("check", "set", "t-1", "grep -q ho a")
    seen("goal", "edit", "g-1", "--priority", "1")
    for verb in ("resume", "pause", "resume"):
        seen("goal", verb, "g-1")
    seen("grant", "add", "push", "origin/loopx/*", "--goal", "g-1", "--until", "3d", "--uses", "2")
    for noun in ("actor", "goal", "todo", "check", "criterion", "project", "grant", "decision", "place", "finding"):
        seen("list", noun)
    seen("grant", "revoke", "gr-1")


def _asked_and_proposed(seen: Seen) -> None:
    for question in ("Which?", "And?"):
        seen("decision", "ask", "g-1", question, "--option", "a")
    seen("decision", "snooze", "d-1", "--hours", "1")
    seen("decision", "withdraw", "d-1")
    seen("inbox")
    seen.answer("d-2", "1")
    commands = json.dumps([{"verb": "todo add", "arguments": {"goal": "g-1", "title": "Proposed"}}])
    seen("decision", "propose", "g-1", "Shall we?", "--commands", commands)
    seen("plan", "show", "g-1")
    seen("plan", "accept", "g-1", "--basis", seen("show", "d-3")["item"]["basis"])
    seen("message", "send", "g-1", "hello")
    seen("message", "consume", "m-1")
    seen("show", "nothing", code=2)


def _by_agents(seen: Seen) -> None:
    seen("project", "check", "--dry-run")
    seen("project", "check")
    seen("place", "g-1")
    seen.as_agent(seen.tokens["ada"])
    seen("next")
    seen("turn", "begin", "g-1", "--dry-run")
    seen.as_agent(seen("turn", "begin", "g-1", "--todo", "t-1")["token"])
    seen("next")
    seen("evidence", "add", "u-1", "note", "seen")
    seen("turn", "extend", "u-1")
    seen("decision", "ask", "g-1", "May I?", code=6)
    seen("handoff", "offer", "u-1", "you take it", "--to", "bob")
    seen.as_agent(seen.tokens["bob"])
    seen("handoff", "decline", "h-1")
    seen.as_agent(seen.tokens["ada"])
    again = seen("turn", "begin", "g-1", "--todo", "t-1")
    seen.as_agent(again["token"])
    seen("handoff", "offer", again["turn"], "you take it", "--to", "bob")
    seen.as_agent(seen.tokens["bob"])
    taken = seen("handoff", "accept", "h-2")
    seen.as_agent(taken["token"])
    seen("lease", "release", taken["turn"])
    for verb in ("abandon", "finish"):
        seen.as_agent(seen.tokens["ada"])
        begun = seen("turn", "begin", "g-1", "--todo", "t-1")
        seen.as_agent(begun["token"])
        more = (
            ["--outcome", "progress", "--summary", "a start", "--wait", "0"] if verb == "finish" else ["--reason", "no"]
        )
        seen("turn", verb, begun["turn"], *more)
    seen.as_person()
    for identifier in ("u-1", "t-1", "h-1", "a-3", "pl-1", "g-1", "e-1", "r-1"):
        seen("show", identifier)
        if identifier != "r-1":
            seen("why", identifier)
    for noun in ("turn", "evidence", "handoff", "lease", "message", "effect", "limit", "watch"):
        seen("list", noun)
    seen("search", "one")
    seen("history")
    seen("stop", "g-1")


def _by_the_engine(seen: Seen, tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(WORK, encoding="utf-8")
    seen("actor", "add", "cy", "--kind", "agent", "--runtime", "command", "--argv", f"{sys.executable} {program}")
    seen("goal", "add", "Engine's", "--agent", "cy", "--criterion", "a says ho :: grep -q ho a")
    seen("todo", "add", "g-2", "Write ho", "--check", "grep -q ho a", "--serves", "1")
    seen("goal", "resume", "g-2")
    seen.check(_process("-m", "loopx_engine.cli.engine_main", "once", "--json"))
    seen("diff", "g-2")
    seen("findings", code=seen.code("findings"))
    seen("status")
    closing = seen("inbox")["items"]
    assert [row["goal"] for row in closing][:1] == ["g-2"], closing
    seen("goal", "close", "g-2")
    seen("goal", "reopen", "g-2")
    seen("goal", "pause", "g-2")
    seen("goal", "archive", "g-2")
    seen("goal", "resume", "g-1")
    seen.check(_process("-m", "loopx_engine.cli.engine_main", "once", "--json"))
    last = seen("todo", "add", "g-1", "Last")["todo"]
    seen.as_agent(seen.tokens["ada"])
    begun = seen("turn", "begin", "g-1", "--todo", last)
    seen.as_person()
    seen.while_waiting(lambda: _process("-m", "loopx_tui", "lease", "take", begun["todo"], "--json"))
    assert seen("follow", "g-1")["state"] == "settled"
    seen("place", "drop", seen("show", "g-2")["related"]["places"][0]["id"])


def _kept(seen: Seen, tmp_path: Path) -> None:
    seen("doctor", code=seen.code("doctor"))
    seen("verify")
    copy = tmp_path / "copy.db"
    seen("backup", str(copy), "--dry-run")
    seen("backup", str(copy))
    seen("project", "setup", "--argv", "false")
    seen("goal", "add", "Breaks")
    seen("goal", "resume", "g-3")
    seen("project", "check")
    broken = seen("show", "g-3")["related"]["places"][0]
    assert broken["state"] == "broken"
    seen("findings", code=9)
    seen("place", "retry", broken["id"])
    seen("owner", "rotate", "--no-passphrase")
    if find_spec("bcrypt"):
        seen.with_passphrase(b"sealed now\n", "owner", "protect")
        seen.with_passphrase(b"sealed now\n", "goal", "pause", "g-1")
        seen.with_passphrase(b"sealed now\n", "restore", str(copy))
    seen("restore", str(copy), "--dry-run")
    if not find_spec("bcrypt"):
        seen("restore", str(copy))
    seen("stop", "--all", "--dry-run")


def _process(*words: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, *words]
    done = subprocess.run(
        argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
