"""Records, ids, conditions, canonical bytes, identities and clocks: values that mean the same on every way."""

from __future__ import annotations

import json
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import check, decision, goal, grant, lease, place, todo, turn

from loopx_engine.canonical import canonical, digest
from loopx_engine.clock import FakeClock, SystemClock
from loopx_engine.errors import LoopxError, UsageError
from loopx_engine.model.condition import parse_condition
from loopx_engine.model.identity import Identity
from loopx_engine.model.ids import KIND, PREFIX, expect, kind_of, make, number_of
from loopx_engine.model.record import column_value, columns, from_values, stored, values

RECORDS = [
    goal(),
    todo(needs=("t-2",), serves=(1, 2)),
    check(environment=(("A", "b"),)),
    decision(options=(("1", "x"),), effect={"a": [1]}),
    grant(),
    lease(),
    place(),
    turn(claim={"outcome": "done"}),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.KIND)
def test_a_record_is_the_same_after_its_values_and_json(record: Any) -> None:
    row = json.loads(json.dumps(values(record)))
    again = from_values(type(record), row)
    assert values(again) == row
    assert {name for name, _, _ in columns(type(record))} == set(row)
    assert hash(record) == hash(again)
    assert record.KIND in repr(record).lower()


def test_records_compare_by_value_and_class() -> None:
    assert todo() == todo()
    assert todo() != todo(title="other")
    assert todo().__eq__("t-1") is NotImplemented


def test_columns_hold_text_integers_booleans_and_json() -> None:
    row = stored(todo(serves=(1,), signed=True))
    assert (row["serves"], row["signed"], row["check"], row["rank"]) == ("[1]", 1, None, 10)
    assert column_value("json", {"b": 1, "a": 2}) == '{"a":2,"b":1}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "g",
        "g-",
        "g-0",
        "g-01",
        "g-1x",
        "zz-1",
        "../x",
        "/etc/x",
        "g-1\0",
        "CON",
        "g-1\n",
        "g" * 10_000,
        "G-1",
        "g-\u0661",
    ],
)
def test_what_is_no_id_is_refused_before_anything_else(text: str) -> None:
    with pytest.raises(UsageError, match="not an id"):
        kind_of(text)


def test_ids_are_typed() -> None:
    assert len(set(PREFIX.values())) == len(PREFIX) == len(KIND)
    for kind in PREFIX:
        assert kind_of(make(kind, 17)) == kind
    assert expect("t-3", "todo") == "t-3"
    assert number_of("pl-42") == 42
    with pytest.raises(UsageError, match="not a goal"):
        expect("t-3", "goal")


@pytest.mark.parametrize("text", ["at:1", "done:t-3", "decided:d-1", "changed:w-1", "file:*.txt", "command:make ok"])
def test_the_six_kinds_of_conditions(text: str) -> None:
    assert parse_condition(text).kind == text.partition(":")[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "at:",
        "at:tomorrow",
        "at:-1",
        "at:\u0661",
        "done:g-1",
        "done:../x",
        "decided:t-1",
        "never:x",
        "file: ",
    ],
)
def test_what_is_no_condition_names_what_would_be(text: str) -> None:
    with pytest.raises(UsageError):
        parse_condition(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=8,
)


@given(JSON)
def test_one_value_has_one_encoding(value: Any) -> None:
    assert canonical(json.loads(canonical(value))) == canonical(value)
    assert len(digest(value)) == 64


def test_canonical_json_sorts_composes_and_refuses_what_has_no_form() -> None:
    assert canonical({"b": 1, "a": ["e\u0301"]}) == '{"a":["\u00e9"],"b":1}'.encode()
    assert canonical(("a", True, None)) == b'["a",true,null]'
    for wrong in (1.5, {1: 2}, b"x", {"a": {1, 2}}, "\ud800"):
        with pytest.raises(UsageError) as caught:
            canonical(wrong)
        assert caught.value.code == "not_canonical"


def test_a_non_ascii_key_is_composed_too() -> None:
    assert canonical({"e\u0301": 1}) == '{"\u00e9":1}'.encode()


def test_who_is_a_person_and_what_is_verified() -> None:
    assert Identity(kind="person", actor="a-1").person
    assert Identity(kind="channel", actor="a-9").person
    assert not Identity(kind="agent", actor="a-3").person
    assert Identity(kind="person", actor="a-1", strength="passphrase").verified
    assert not Identity(kind="person", actor="a-1").verified


def test_errors_have_stable_codes_exits_and_next_steps() -> None:
    kinds = LoopxError.__subclasses__()
    assert sorted(kind.exit_code for kind in kinds) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 75]
    assert len({kind.default_code for kind in kinds}) == len(kinds)
    error = UsageError("what", next="loopx --help", details={"a": 1})
    assert (error.code, error.message, error.next, error.details, str(error)) == (
        "usage",
        "what",
        "loopx --help",
        {"a": 1},
        "what",
    )


def test_clocks() -> None:
    clock = FakeClock(1000)
    event = Event()
    assert not clock.wait(event, 2.0)
    assert (clock.now(), clock.monotonic()) == (3000, 2.0)
    clock.set(5)
    assert clock.now() == 5
    system = SystemClock()
    assert system.now() > 1_700_000_000_000
    assert system.monotonic() > 0
    event.set()
    assert system.wait(event, 0)
