"""Forms: the fields of every verb, made from its command, and what was typed as arguments; a wrong value names its field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from engine_kit import OWNER, Kit, kit  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st

from loopx_engine import TABLE
from loopx_engine.commands.fields import build, specs
from loopx_engine.commands.verbs import verb_of
from loopx_engine.desk.forms import Field, arguments_typed, fields_of
from loopx_engine.desk.typed import split_argv, split_criterion
from loopx_engine.desk.typed import typed as words_typed
from loopx_engine.errors import LoopxError, UsageError

VERBS = [verb.name for verb in TABLE]
KINDS = {(verb, field.name): field for verb in VERBS for field in fields_of(verb)}


def attempted(call: Callable[[], Any]) -> Any:
    """What a call came to, or its usage error."""
    try:
        return call()
    except UsageError as error:
        return error


def field(verb: str, name: str) -> Field:
    return KINDS[verb, name]


def one(kind: str) -> tuple[str, str]:
    """A verb and a field of this kind."""
    return next(key for key, found in KINDS.items() if found.kind == kind)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_form_of_its_own_fields_in_their_order(verb: str) -> None:
    known = specs(verb_of(verb).load())
    found = fields_of(verb)
    assert [item.name for item in found] == [name for name, (_, spec) in known.items() if spec.form != "hidden"]
    for item in found:
        assert item.help.strip()
        assert item.needed is (known[item.name][1].form == "argument")
        assert bool(item.choices) is (item.kind == "choice")


@pytest.mark.parametrize("kind", ["line", "text", "lines", "number", "flag", "choice", "argv", "when"])
def test_there_is_a_field_of_each_kind(kind: str) -> None:
    verb, name = one(kind)
    assert field(verb, name).kind == kind


@pytest.mark.parametrize(
    ("verb", "name", "kind"),
    [
        ("goal add", "title", "line"), ("goal add", "objective", "text"), ("goal add", "criterion", "lines"),
        ("goal add", "autonomy", "choice"), ("check set", "argv", "argv"), ("grant add", "until", "when"),
        ("grant add", "uses", "number"), ("stop", "all", "flag"), ("todo add", "serves", "lines"),
    ],
)  # fmt: skip
def test_a_field_is_typed_as_what_it_is(verb: str, name: str, kind: str) -> None:
    assert field(verb, name).kind == kind


@pytest.mark.parametrize(
    ("verb", "typed", "arguments"),
    [
        ("goal add", {"title": "  Fix it  ", "objective": ""}, {"title": "Fix it"}),
        ("goal add", {"objective": "one\n  two\n"}, {"objective": "one\n  two\n"}),
        (
            "goal add",
            {"criterion": "it works :: make test\n\n it is clear \na :: b :: 'c d'"},
            {"criterion": [("it works", ("make", "test")), ("it is clear", ()), ("a :: b", ("c d",))]},
        ),
        ("todo add", {"serves": "1\n 2 \n"}, {"serves": [1, 2]}),
        ("todo add", {"scope": "src/**\n\n docs/a b"}, {"scope": ["src/**", "docs/a b"]}),
        ("check set", {"argv": "pytest -q 'a b'"}, {"argv": ["pytest", "-q", "a b"]}),
        ("stop", {"all": "yes", "goal": " "}, {"all": True}),
        ("stop", {"all": "no"}, {"all": False}),
        ("grant add", {"uses": " 3 "}, {"uses": 3}),
        ("grant add", {"until": "1800000000000"}, {"until": 1_800_000_000_000}),
    ],
)
def test_what_was_typed_is_what_the_command_takes(verb: str, typed: dict[str, str], arguments: dict[str, Any]) -> None:
    assert arguments_typed(verb, typed) == arguments


@pytest.mark.parametrize(
    ("verb", "name", "typed", "code"),
    [
        ("grant add", "uses", "three", "bad_argument"), ("grant add", "uses", "1.5", "bad_argument"),
        ("grant add", "uses", "9" * 5000, "bad_argument"), ("stop", "all", "maybe", "bad_argument"),
        ("todo add", "serves", "1\nx", "bad_argument"), ("check set", "argv", "make 'test", "bad_argument"),
        ("check set", "argv", "''\\", "bad_argument"), ("grant add", "until", "soon", "bad_time"),
        ("goal add", "criterion", "it works :: make 'x", "bad_argument"),
        ("goal add", "no_such_field", "x", "unknown_argument"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_an_error_that_names_its_field(verb: str, name: str, typed: str, code: str) -> None:
    with pytest.raises(UsageError) as refused:
        arguments_typed(verb, {name: typed})
    assert refused.value.code == code
    assert name.replace("_", " ") in refused.value.message
    assert len(refused.value.message) < 200


def test_a_verb_nobody_knows_is_an_error() -> None:
    with pytest.raises(UsageError, match="no verb"):
        fields_of("goal fly")
    with pytest.raises(UsageError, match="no verb"):
        arguments_typed("goal fly", {})


@given(st.sampled_from(sorted(KINDS)), st.text(st.characters(exclude_categories=()), max_size=40))
def test_anything_typed_is_arguments_or_a_usage_error(key: tuple[str, str], typed: str) -> None:
    verb, name = key
    found = attempted(lambda: arguments_typed(verb, {name: typed}))
    if isinstance(found, UsageError):
        assert found.code in ("bad_argument", "bad_time", "empty")
        assert found.message.startswith(name.replace("_", " "))
    else:
        assert set(found) == ({name} if typed.strip() else set())


def test_what_a_form_made_is_what_the_engine_takes(kit: Kit) -> None:
    words = {
        "title": "Fix it", "objective": "all of it", "criterion": "it works :: make test\nit is clear",
        "autonomy": "careful", "priority": "2",
    }  # fmt: skip
    given = {**arguments_typed("goal add", words), "project": kit.project()}
    preview = kit.engine.preview("goal add", given, OWNER)
    assert build(verb_of("goal add").load(), given).title == "Fix it"
    assert {change.kind for change in preview.changes} >= {"goal", "criterion", "check"}


def test_a_choice_that_is_none_is_left_to_the_engine_to_refuse(kit: Kit) -> None:
    given = {**arguments_typed("goal add", {"title": "x", "autonomy": "wild"}), "project": kit.project()}
    with pytest.raises(LoopxError, match="autonomy"):
        kit.engine.preview("goal add", given, OWNER)


# -- words of a command line -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "argv"),
    [("make test", ["make", "test"]), ("a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]),
        ("x; rm -rf ~ && $(id)", ["x;", "rm", "-rf", "~", "&&", "$(id)"]),
     ("漢字 'é'", ["漢字", "é"])],
)  # fmt: skip
def test_a_command_line_is_split_once_and_never_given_to_a_shell(typed: str, argv: list[str]) -> None:
    assert split_argv(typed) == argv


@pytest.mark.parametrize(
    ("typed", "code"), [("", "empty"), ("  ", "empty"), ("'open", "bad_argument"), ("end\\", "bad_argument")]
)
def test_what_is_no_command_line_is_said(typed: str, code: str) -> None:
    with pytest.raises(UsageError) as refused:
        split_argv(typed)
    assert refused.value.code == code


def test_a_criterion_and_its_check_are_bound_by_the_last_mark() -> None:
    assert split_criterion(" it works ") == ("it works", ())
    assert split_criterion("a :: b :: c d") == ("a :: b", ("c", "d"))
    assert split_criterion("a::b") == ("a::b", ())


@pytest.mark.parametrize(
    ("name", "annotation", "value", "argument"),
    [
        ("check", "tuple[str, ...] | None", "make test", ["make", "test"]), ("title", "str", "make test", "make test"),
        ("criterion", "tuple[tuple[str, tuple[str, ...]], ...]", ("a :: b c", "d"), [("a", ("b", "c")), ("d", ())]),
        ("remotes", "tuple[tuple[str, ...], ...]", ("a b", "c"), [["a", "b"], ["c"]]),
        ("serves", "tuple[int, ...]", (1, 2), [1, 2]),
        ("until", "int | None", "1800000000000", 1_800_000_000_000), ("uses", "int", 3, 3), ("all", "bool", True, True),
    ],
)  # fmt: skip
def test_words_of_a_command_line_are_typed_as_those_of_a_form(
    name: str, annotation: str, value: Any, argument: Any
) -> None:
    assert words_typed(name, annotation, value) == argument
