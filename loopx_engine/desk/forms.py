"""The form of a verb: the fields a person fills in, made from the command's own fields, and what was typed as arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from loopx_engine.commands.fields import specs
from loopx_engine.commands.verbs import verb_of
from loopx_engine.desk.typed import ARGV_FIELDS, split_argv, split_criterion
from loopx_engine.desk.when import parse_when
from loopx_engine.errors import UsageError
from loopx_engine.model.record import noun

FieldKind = Literal["line", "text", "lines", "number", "flag", "choice", "argv", "when"]
LONG_BYTES = 1000


@noun
class Field:
    """One field of a form: what it is called, what it is for, and how it is typed. `lines` take one item a line."""

    name: str
    kind: FieldKind
    help: str
    needed: bool = False
    choices: tuple[str, ...] = ()


def fields_of(verb: str) -> tuple[Field, ...]:
    """The fields a person may fill in, in the order of the command."""
    return tuple(
        Field(
            name=name,
            kind=_kind(name, str(item.type), spec),
            help=spec.help,
            needed=spec.form == "argument",
            choices=spec.choices,
        )
        for name, (item, spec) in specs(verb_of(verb).load()).items()
        if spec.form != "hidden"
    )


def arguments_typed(verb: str, words: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of a verb from the words typed into its form; empty ones are left out.

    Raises `UsageError` naming the field.
    """
    kinds = {field.name: (field, str(item.type)) for field, (item, _) in _with_specs(verb)}
    found: dict[str, Any] = {}
    for name, said in words.items():
        if not said.strip():
            continue
        if name not in kinds:
            raise UsageError(
                f"{verb} takes no {name.replace('_', ' ')[:40]}", code="unknown_argument", next=f"loopx {verb} --help"
            )
        found[name] = _named(*kinds[name], said)
    return found


def _named(field: Field, annotation: str, said: str) -> Any:
    try:
        return _value(field, annotation, said)
    except UsageError as error:
        colon = "" if error.message.startswith("is ") else ":"
        label = field.name.replace("_", " ")
        raise UsageError(f"{label}{colon} {error.message}", code=error.code, next=error.next) from None


def _with_specs(verb: str) -> list[tuple[Field, Any]]:
    known = specs(verb_of(verb).load())
    return [(field, known[field.name]) for field in fields_of(verb)]


def _kind(name: str, annotation: str, spec: Any) -> FieldKind:
    base = annotation.removesuffix(" | None")
    if spec.choices:
        return "choice"
    if name == "until":
        return "when"
    if name in ARGV_FIELDS and base == "tuple[str, ...]":
        return "argv"
    if base.startswith("tuple["):
        return "lines"
    if base in ("bool", "int"):
        return "flag" if base == "bool" else "number"
    return "text" if spec.most >= LONG_BYTES and spec.unit == "bytes" else "line"


def _value(field: Field, annotation: str, said: str) -> Any:
    if field.kind == "argv":
        return split_argv(said)
    if field.kind == "when":
        return parse_when(said)
    if field.kind == "flag":
        return _flag(said)
    if field.kind == "number":
        return _number(said)
    if field.kind != "lines":
        return said if field.kind == "text" else said.strip()
    items = [line.strip() for line in said.splitlines() if line.strip()]
    if field.name == "criterion":
        return [split_criterion(item) for item in items]
    if "tuple[tuple[" in annotation:
        return [split_argv(item) for item in items]
    return [_number(item) for item in items] if "int" in annotation else items


def _number(said: str) -> int:
    try:
        return int(said.strip())
    except ValueError:
        raise UsageError(f"is a number, not '{said.strip()[:40]}'", code="bad_argument") from None


def _flag(said: str) -> bool:
    if said.strip() not in ("yes", "no"):
        raise UsageError("is yes or no", code="bad_argument")
    return said.strip() == "yes"
