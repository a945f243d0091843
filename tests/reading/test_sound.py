"""Sound: whole records pass as they are; each kind of damage is named and costs its own row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import strategies
from engine_kit import Kit, kit  # noqa: F401
from reading.scene import BAD_TEXT, poison

from loopx_engine.errors import LedgerUnusable, TryAgain, UsageError
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.states import MACHINES
from loopx_engine.model.todo import Todo
from loopx_engine.reading.named import Named
from loopx_engine.reading.sound import UNREADABLE, flaw_of, found, needed, peek, rows_of, tried

SOUND = [
    strategies.goal(),
    strategies.todo(serves=(1, 2), needs=("t-2",), wait="at:5"),
    strategies.turn(claim={"outcome": "done"}),
    strategies.lease(),
    strategies.evidence_row(),
    strategies.decision(options=(("1", "a"),), effect={"action": "push"}, commands=({"verb": "goal close"},)),
]


@pytest.mark.parametrize("record", SOUND, ids=lambda record: record.KIND)
def test_a_whole_record_has_no_flaw(record: Any) -> None:
    assert flaw_of(record) == ""


@pytest.mark.parametrize("record", SOUND, ids=lambda record: record.KIND)
def test_a_state_nobody_knows_is_a_flaw_and_named(record: Any) -> None:
    field = MACHINES[record.KIND][0]
    assert flaw_of(replace(record, **{field: "sideways"})) == f"its {field} 'sideways' is none that is known"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("needs", 5), ("needs", {"a": 1}), ("needs", ("t-1", 5)), ("needs", "t-1"), ("needs", None), ("serves", ("1",)),
        ("serves", (1.5,)), ("serves", (True,)), ("kind", "play"), ("scopes", ((),)), ("frontiers", (None,)),
    ],
)  # fmt: skip
def test_a_field_of_another_type_is_a_flaw_and_named(field: str, value: Any) -> None:
    assert flaw_of(replace(strategies.todo(), **{field: value})) == f"its {field} is not what it should be"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("options", (("1",),)), ("options", ("12",)), ("options", (("1", 2),)), ("effect", ()), ("effect", "push"),
        ("commands", ("x",)), ("risk", "enormous"), ("kind", ""), ("proof", 1), ("blocks", (1,)),
    ],
)  # fmt: skip
def test_a_broken_question_is_a_flaw(field: str, value: Any) -> None:
    assert flaw_of(replace(strategies.decision(), **{field: value}))


def test_what_may_be_absent_may(kit: Kit) -> None:
    assert flaw_of(replace(strategies.decision(), effect=None, proof=None)) == ""


@pytest.mark.parametrize(
    ("field", "sql", "why"),
    [
        ("state", "'sideways'", "its state 'sideways' is none that is known"),
        ("needs", "'[1'", UNREADABLE),
        ("needs", "'7'", "its needs is not what it should be"),
        ("serves", """'["one"]'""", "its serves is not what it should be"),
        ("title", BAD_TEXT, UNREADABLE),
    ],
)
def test_damage_is_found_where_the_record_is_read(kit: Kit, field: str, sql: str, why: str) -> None:
    goal = kit.draft()
    name = kit.todo(goal)
    poison(kit, "todo", name, field, sql)
    with kit.engine.read() as reader:
        with pytest.raises(LedgerUnusable) as raised:
            found(reader, Todo, name)
        assert raised.value.code == "damaged_record"
        assert raised.value.details == {"why": why}
        assert peek(reader, Todo, name) is None
        assert rows_of(["t-9", name], lambda it: {"id": needed(reader, Todo, it).id}) == [
            {"id": "t-9", "poisoned": "it is gone"},
            {"id": name, "poisoned": why},
        ]
        assert reader.get(Goal, goal) is not None, "the view goes on after a row that cannot be read"
        assert Named(reader).todo(name) == name


def test_absent_is_absent_and_no_damage(kit: Kit) -> None:
    with kit.engine.read() as reader:
        assert found(reader, Decision, "d-1") is None
        assert found(reader, Decision, "") is None
        assert found(reader, Decision, None) is None
        assert Named(reader).goal(None) == ""
        assert Named(reader).actors(["a-1", "", None, "g-1", "a-77"]) == {"a-1": "ana", "a-77": "a-77"}


@pytest.mark.parametrize("error", [KeyError("x"), TypeError(), ValueError(), AttributeError(), IndexError()])
def test_a_row_that_cannot_be_formatted_says_so(error: Exception) -> None:
    def make(_: str) -> dict[str, Any]:
        raise error

    assert rows_of(["g-1"], make) == [{"id": "g-1", "poisoned": UNREADABLE}]


def test_words_that_are_wrong_are_the_reason(kit: Kit) -> None:
    def make() -> None:
        raise UsageError("at: needs UTC milliseconds")

    assert tried(make) == (None, "at: needs UTC milliseconds")


def test_a_busy_ledger_is_no_poisoned_row() -> None:
    def make(_: str) -> dict[str, Any]:
        raise TryAgain("busy")

    with pytest.raises(TryAgain):
        rows_of(["g-1"], make)
