"""Every published text as title, name, question, reason and output: reads give it back as it was written, and nothing breaks."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from engine_kit import Kit, kit  # noqa: F401
from reading.scene import read
from support import a26_1

from loopx_engine.engine import Engine
from loopx_engine.errors import LedgerUnusable, LoopxError
from loopx_engine.reading.telling import MOST

EXAMPLES: dict[str, str] = a26_1()
SURROGATES = {"lone high surrogate", "lone low surrogate"}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_text_goes_through_every_read_as_it_is(kit: Kit, name: str) -> None:
    text = EXAMPLES[name]
    goal = kit.goal("Shop", criterion=[["by eye", ["true"]]])
    kit.todo(goal, "Rank", check=["true"])
    who = kit.begin(kit.agent("ada"))
    kit.turn(who, "decision ask", goal=goal, question="Which?", option=["a"], blocks=["t-1"])
    kit.say("decision ask", goal=goal, question="And?")
    basis = read(kit, "decision", id="d-2")["item"]["basis"]
    kit.sign("decision answer", decision="d-2", option="yes", basis=basis, reason="so")
    kit.act("criterion prove", criterion="c-1", outcome="pass", tail="x")
    for table, field in FIELDS:
        write(kit, table, field, text)
    lists = {what: read(kit, what, **given) for what, given in READS.items() if what not in ("card", "decision")}
    if name in SURROGATES:
        assert "poisoned" in lists["goals"]["items"][0]
        assert "poisoned" in lists["todos"]["items"][0]
        assert "poisoned" in lists["inbox"]["items"][0]
        assert "poisoned" in lists["inbox"]["answered"][0]
        with pytest.raises(LedgerUnusable, match="g-1 is damaged"):
            read(kit, "card", goal="g-1")
        return
    found = lists | {what: read(kit, what, **READS[what]) for what in ("card", "decision")}
    assert json.loads(json.dumps(found)) == found
    assert found["goals"]["items"][0]["title"] == text
    assert found["goals"]["items"][0]["running"][0]["actor_name"] == text
    assert found["goals"]["items"][0]["running"][0]["todo_title"] in (text, "work")
    assert found["todos"]["items"][0]["title"] == found["todos"]["items"][0]["body"] == text
    assert found["todos"]["items"][0]["who"] == text
    question = found["inbox"]["items"][0]
    assert (question["question"], question["goal_title"], question["blocks_titles"]) == (text, text, [text])
    assert found["inbox"]["answered"][0]["question"] == text
    assert found["inbox"]["answered"][0]["reason"] == text
    card = found["card"]
    assert (card["goal"]["title"], card["project"]["name"], card["criteria"][0]["text"]) == (text, text, text)
    assert all(len(item["text"]) <= MOST and "\n" not in item["text"] for item in card["history"])
    assert found["decision"]["blocks"] == [{"id": "t-1", "title": text}]
    assert found["status"]["running"][0]["title"] == text


FIELDS = (
    ("goal", "title"), ("goal", "objective"), ("project", "name"), ("todo", "title"), ("todo", "body"), ("actor", "name"),
    ("decision", "question"), ("decision", "why"), ("decision", "reason"), ("criterion", "text"), ("evidence", "tail"),
    ("evidence", "ref"), ("turn", "reason"), ("place", "reason"),
)  # fmt: skip
READS: dict[str, dict[str, Any]] = {
    "goals": {}, "todos": {"goal": "g-1"}, "inbox": {}, "status": {}, "findings": {}, "card": {"goal": "g-1"},
    "decision": {"id": "d-1"},
}  # fmt: skip


def write(kit: Kit, table: str, field: str, text: str) -> None:
    """Straight into the table: what no command would take is there as well."""
    kit.tamper(f'update "{table}" set "{field}" = cast(:text as text)', text=text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_text_as_an_argument_finds_nothing_and_breaks_nothing(kit: Kit, name: str) -> None:
    kit.draft()
    text = EXAMPLES[name]
    for what, given in (
        ("goals", {"at": text, "here": text}),
        ("todos", {"goal": "g-1", "at": text}),
        ("inbox", {"here": text}),
    ):
        with suppress(*((LoopxError, UnicodeEncodeError) if name in SURROGATES else ())):
            assert read(kit, what, **given).get("at") is None


@pytest.mark.parametrize("what", ["card", "todos", "decision"])
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_text_as_an_id_is_refused_as_one(kit: Kit, what: str, name: str) -> None:
    from loopx_engine.errors import UsageError

    with pytest.raises(UsageError):
        read(kit, what, **{"id" if what == "decision" else "goal": EXAMPLES[name]})


def test_reads_are_the_same_in_two_calls(kit: Kit) -> None:
    kit.todo(kit.goal())
    kit.begin(kit.agent())
    assert isinstance(kit.engine, Engine)
    for what in ("goals", "inbox", "status", "findings"):
        assert read(kit, what) == read(kit, what)
    assert read(kit, "card", goal="g-1") == read(kit, "card", goal="g-1")
