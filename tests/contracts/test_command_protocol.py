"""The lines of the `command` runtime: what the schema calls one, the runtime reads as one, and the other way round."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError
from support import a26_1

from loopx_engine.contracts.command_protocol import TO_AGENT, TO_ENGINE
from loopx_engine.contracts.schemas import schema_of
from loopx_engine.runtimes.command import parse_line
from loopx_engine.runtimes.protocol import Ask, Note, Produced, Result, Text, Usage

KINDS = {"note": Note, "usage": Usage, "ask": Ask, "evidence": Produced, "result": Result}
SAID: list[dict[str, Any]] = [
    {"type": "note", "text": "looking at the tests"},
    {"type": "usage", "input": 1200, "output": 80},
    {"type": "usage", "input": 0, "output": 0, "cost": 0.25},
    {"type": "usage", "input": None, "output": 5, "cost": "1.50"},
    {"type": "ask", "id": "q1", "question": "push?", "why": "to share it"},
    {"type": "ask", "id": "q1", "question": "push?", "why": "", "options": ["a", "b"], "blocks": True},
    {
        "type": "ask",
        "id": "q2",
        "question": "push?",
        "effect": {"action": "push", "remote": "origin", "ref": "loopx/g-1"},
    },
    {"type": "evidence", "kind": "file", "ref": "out/report.txt"},
    {"type": "evidence", "kind": "url", "ref": "https://example.org", "note": "the build"},
    {"type": "result", "outcome": "done", "summary": "fixed", "no_successor": "that is all"},
    {"type": "result", "outcome": "done", "result": "pass", "summary": "read it", "successor": "t-9"},
    *({"type": "result", "outcome": outcome, "summary": ""} for outcome in ("progress", "blocked", "failed")),
    {"type": "note", "text": "more than is asked for", "colour": "blue"},
]
NOT_SAID: list[dict[str, Any]] = [
    {},
    {"type": "shout", "text": "hello"},
    {"type": "note"},
    {"type": "note", "text": 5},
    {"type": "ask", "id": "q1"},
    {"type": "ask", "question": None, "id": "q"},
    {"type": "evidence", "kind": "file"},
    {"type": "evidence", "kind": 5, "ref": "x"},
    {"type": "result"},
    {"type": "result", "outcome": "splendid"},
    {"type": "result", "outcome": ["done"]},
    {"type": ["note"], "text": "x"},
]


def line_of(said: dict[str, Any]) -> str:
    return json.dumps(said)


@pytest.mark.parametrize("said", SAID, ids=line_of)
def test_what_the_schema_calls_a_line_the_runtime_reads_as_one(said: dict[str, Any]) -> None:
    name = said["type"]
    jsonschema.validate(said, schema_of(f"command.{name}"))
    model = TO_ENGINE[name].model_validate_json(line_of(said))
    event = parse_line(line_of(said))
    assert type(event) is KINDS[name]
    for field in ("text", "question", "why", "outcome", "summary", "kind", "ref", "note", "input", "output"):
        if hasattr(event, field) and hasattr(model, field) and not (name == "ask" and field == "ref"):
            assert getattr(event, field) == getattr(model, field), field


@pytest.mark.parametrize("said", NOT_SAID, ids=line_of)
def test_what_is_no_line_is_transcript_text_and_no_schema_takes_it(said: dict[str, Any]) -> None:
    assert parse_line(line_of(said)) == Text(text=line_of(said))
    for model in TO_ENGINE.values():
        with pytest.raises(ValidationError):
            model.model_validate_json(line_of(said))


@pytest.mark.parametrize("name", sorted(a26_1()))
def test_every_string_survives_both_readers_unchanged(name: str) -> None:
    said = {"type": "note", "text": a26_1()[name]}
    event = parse_line(line_of(said))
    assert isinstance(event, Note)
    assert said["text"].startswith(event.text)
    assert parse_line(a26_1()[name]) == Text(text=a26_1()[name])


@pytest.mark.parametrize(
    "broken", ['{"type": "note", "text": "x"', '{"type"', "[1, 2]", '"note"', "5", "null", "{" * 5000, "[" * 100_000]
)
def test_a_torn_or_foreign_line_is_text_and_never_an_error(broken: str) -> None:
    assert parse_line(broken) == Text(text=broken)


@pytest.mark.parametrize("cost", [-1, "NaN", "Infinity", True, [], {}, "free", 10**30])
def test_a_cost_nobody_can_count_stays_unknown(cost: object) -> None:
    event = parse_line(json.dumps({"type": "usage", "input": 1, "output": 1, "cost": cost}))
    assert isinstance(event, Usage)
    assert event.cost is None


def test_the_lines_to_the_agent_are_the_ones_the_runtime_writes(tmp_path: Path) -> None:
    """A real process gets every kind of line and writes them down; each is its schema."""
    written = tmp_path / "lines"
    _speak(written, tmp_path)
    lines = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
    assert lines[0] == {"schema": "loopx.packet/1", "turn": "u-1"}
    assert [line["type"] for line in lines[1:]] == ["answer", "answer", "refused", "refused", "stop"]
    for line in lines[1:]:
        jsonschema.validate(line, schema_of(f"command.{line['type']}"))
        TO_AGENT[line["type"]].model_validate_json(json.dumps(line))


def _speak(written: Path, tmp_path: Path) -> None:
    import os
    import sys

    from loopx_engine.model.actor import Actor
    from loopx_engine.runtimes.command import CommandRuntime
    from loopx_engine.runtimes.protocol import Ended, Start

    program = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
    argv = (sys.executable, "-c", program, str(written))
    actor = Actor(id="a-3", kind="agent", name="ada", runtime="command", argv=argv, created_at=0)
    packet = {"schema": "loopx.packet/1", "turn": "u-1"}
    start = Start(actor=actor, packet=packet, place=tmp_path, argv=argv, environment=dict(os.environ), tag="u-1")
    turn = CommandRuntime().start(start)
    turn.answer("q1", "yes", "")
    turn.answer("q2", "1", "in \x1b words")
    turn.refused("python -m pytest", 1, "1 failed")
    turn.refused("missing", None, "")
    turn.ask_to_stop(3.0)
    turn.close()
    for _ in range(600):
        if isinstance(turn.next_event(0.1), Ended):
            return
    pytest.fail("the process did not end")


@pytest.mark.parametrize(
    "line",
    [
        {"type": "answer", "ask": "q1"},
        {"type": "answer", "ask": "q1", "option": "yes", "more": 1},
        {"type": "refused", "check": "x", "exit": "1", "tail": ""},
        {"type": "stop"},
        {"type": "stop", "grace_s": 1.5},
    ],
    ids=line_of,
)
def test_the_schemas_to_the_agent_are_closed(line: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(line, schema_of(f"command.{line['type']}"))
