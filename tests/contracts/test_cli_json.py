"""Every `--json` output of every command is its published schema: real calls, validated twice (jsonschema and pydantic)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
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


@pytest.mark.parametrize("broken", [{}, {"schema": "loopx.backup/1"}, {"file": 1}, {"more": 1}, {"schema": "loopx.goal/1"}, {"receipts": "3"}])
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

    def as_agent(self, token: str | None) -> None:
        if token:
            self._monkeypatch.setenv("LOOPX_TOKEN", token)
        else:
            self._monkeypatch.delenv("LOOPX_TOKEN", raising=False)


@pytest.mark.real
def test_every_output_of_every_command_is_its_schema(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(git_project(tmp_path / "shop-api"))
    seen = Seen(house, monkeypatch)
    _by_a_person(seen)
    _by_agents(seen)
    _turns_and_places(seen, tmp_path)
    _by_the_engine(seen, tmp_path)
    _keeping(seen, tmp_path)
    assert set(schema_names()) - seen.names - {n for n in schema_names() if n.startswith("command.")} == {"engine.run"}


def _by_a_person(seen: Seen) -> None:
    seen("status")
    seen("next", code=4)
    seen("owner", "init", "--no-passphrase", "--dry-run")
    seen("owner", "init", "--no-passphrase")
    for name in ("ada", "bob"):
        seen.__dict__[name] = seen("actor", "add", name, "--kind", "agent")["token"]
    seen("goal", "add", "Fix it", "--agent", "ada", "--agent", "bob", "--reviewer", "bob", "--criterion", "by word")
    seen("criterion", "add", "g-1", "a says ho")
    seen("criterion", "waive", "c-2", "--reason", "not needed")
    seen("criterion", "meet", "c-1", "--reason", "seen")
    for title in ("One", "Two", "Three", "Four"):
        seen("todo", "add", "g-1", title)
    seen("todo", "edit", "t-1", "--body", "more")
    seen("todo", "order", "t-2", "--before", "t-1")
    seen("todo", "split", "t-4", "--part", "Four a", "--part", "Four b")
    seen("undo", seen("todo", "drop", "t-3")["receipt"])
    seen("check", "set", "t-1", "grep -q ho a")
    seen("goal", "edit", "g-1", "--priority", "1")
    seen("goal", "resume", "g-1")
    seen("goal", "pause", "g-1")
    seen("goal", "resume", "g-1")
    seen("project", "add", ".") if False else None
    seen("project", "setup")
    seen("project", "setup", "--none")
    seen("grant", "add", "push", "origin/loopx/*", "--goal", "g-1")
    seen("grant", "revoke", "gr-1")
    seen("decision", "ask", "g-1", "Which?", "--option", "a")
    seen("decision", "snooze", "d-1", "--hours", "1")
    seen("decision", "withdraw", "d-1")
    seen("message", "send", "g-1", "hello")
    seen("message", "consume", "m-1")
    seen("decision", "ask", "g-1", "And?", "--option", "a")
    basis = seen("show", "d-2")["item"]["basis"]
    seen("answer", "d-2", "1", "--basis", basis, "--dry-run")
    seen("answer", "d-2", "1", "--basis", basis)
    commands = json.dumps([{"verb": "todo add", "arguments": {"goal": "g-1", "title": "Proposed"}}])
    seen("decision", "propose", "g-1", "Shall we?", "--commands", commands)
    seen("plan", "show", "g-1")
    basis = seen("show", "d-3")["item"]["basis"]
    seen("plan", "accept", "g-1", "--basis", basis)
    seen("show", "nothing", code=2)


def _by_agents(seen: Seen) -> None:
    ada, bob = seen.__dict__["ada"], seen.__dict__["bob"]
    seen("project", "check", "--dry-run")
    seen("project", "check")
    seen.as_agent(ada)
    seen("next")
    seen("turn", "begin", "--dry-run")
    token = seen("turn", "begin", "g-1", "--todo", "t-1")["token"]
    seen.as_agent(token)
    seen("next")
    seen("evidence", "add", "note", "seen")
    seen("turn", "extend", "u-1")
    seen("decision", "ask", "g-1", "May I?", code=6)
    seen("handoff", "offer", "u-1", "you take it", "--to", "bob") if False else _offer(seen)
    seen.as_agent(bob)
    taken = seen("handoff", "accept", "h-1")
    seen.as_agent(taken["token"])
    seen("lease", "release", taken["turn"])
    seen.as_agent(None)


def _offer(seen: Seen) -> None:
    seen("handoff", "offer", "--to", "bob", "--note", "you take it")


def _turns_and_places(seen: Seen, tmp_path: Path) -> None:
    ada = seen.__dict__["ada"]


def _by_the_engine(seen: Seen, tmp_path: Path) -> None: ...


def _keeping(seen: Seen, tmp_path: Path) -> None: ...
