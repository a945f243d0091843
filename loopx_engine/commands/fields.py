"""The fields of a command, described once: the parser, the command line and the agent tools are made from these.

goal: str = argument("the goal", id="goal")
check: str = option("argv that proves it, split once by shlex", name="check", most=ARGV_BYTES, unit="bytes")
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Literal, dataclass_transform
from unicodedata import normalize

from loopx_engine.canonical import canonical
from loopx_engine.errors import UsageError
from loopx_engine.model.ids import expect
from loopx_engine.model.limits import ARGV_ITEMS, LIST_ITEMS, NAME_CHARACTERS, OBJECT_BYTES
from loopx_engine.model.record import noun


@dataclass(frozen=True, slots=True)
class Spec:
    """One field: `form` says how the command line shows it (`hidden` fields come from the engine's rim alone)."""

    form: Literal["argument", "option", "hidden"]
    help: str
    name: str = ""
    id: str = ""
    most: int = NAME_CHARACTERS
    unit: Literal["characters", "bytes"] = "characters"
    choices: tuple[str, ...] = ()
    blank: bool = False
    items: int = LIST_ITEMS


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def command(cls: type) -> Any:
    """Marks the dataclass of one command: frozen, keyword-only, compared by value."""
    return noun(cls)


def argument(help: str, **spec: Any) -> Any:
    """A required positional field."""
    return field(metadata={"spec": Spec("argument", help, **spec)})


def option(help: str, default: Any = "", **spec: Any) -> Any:
    """An optional field; its type follows from the default (`()` is a list, False a flag)."""
    return field(default=default, metadata={"spec": Spec("option", help, **spec)})


def hidden(help: str, default: Any = MISSING, **spec: Any) -> Any:
    """A field that the engine fills in: on no command line and in no agent tool."""
    metadata = {"spec": Spec("hidden", help, **spec)}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


def specs(cls: type[Any]) -> dict[str, tuple[Any, Spec]]:
    """Field name -> (dataclass field, spec), in order."""
    return {item.name: (item, item.metadata["spec"]) for item in fields(cls)}


def build(cls: type[Any], arguments: dict[str, Any]) -> Any:
    """The command from its arguments, each checked. Raises `UsageError` naming the field and what was expected."""
    known = specs(cls)
    unknown = sorted(set(arguments) - set(known))
    if unknown:
        raise UsageError(
            f"unknown argument '{unknown[0][:40]}'; expected {', '.join(known) or 'none'}", code="unknown_argument"
        )
    checked: dict[str, Any] = {}
    for name, (item, spec) in known.items():
        if name in arguments:
            checked[name] = _value(name, str(item.type), spec, arguments[name])
        elif item.default is MISSING and item.default_factory is MISSING:
            raise UsageError(f"{name} is missing: {spec.help}", code="missing_argument")
    return cls(**checked)


def arguments_of(made: Any) -> dict[str, Any]:
    """The arguments a command was built from, as JSON values: what is digested, signed and kept in the receipt."""
    from loopx_engine.model.record import values

    return values(made)


def _value(name: str, annotation: str, spec: Spec, value: Any) -> Any:
    base = annotation.removesuffix(" | None")
    if value is None and base != annotation:
        return None
    if base == "str":
        return _text(name, spec, value)
    if base == "bool" and isinstance(value, bool):
        return value
    if base == "int" and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return value
    if base == "tuple[str, ...]" and isinstance(value, list | tuple):
        return tuple(_text(name, spec, item) for item in _bounded(name, spec, value))
    if base == "tuple[int, ...]" and isinstance(value, list | tuple) and all(type(item) is int for item in value):
        return tuple(_bounded(name, spec, value))
    if base.startswith("tuple[dict") and isinstance(value, list | tuple):
        return tuple(_object(name, spec, item) for item in _bounded(name, spec, value))
    if base.startswith("tuple[") and isinstance(value, list | tuple):
        return tuple(
            _nested(name, base.removeprefix("tuple[").removesuffix(", ...]"), spec, item)
            for item in _bounded(name, spec, value)
        )
    if base.startswith("dict"):
        return _object(name, spec, value)
    raise _wrong(name, spec)


def _bounded(name: str, spec: Spec, value: Any, most: int = 0) -> Any:
    most = most or spec.items
    if len(value) > most:
        raise UsageError(f"{name} has {len(value)} items; at most {most} are taken", code="too_many")
    return value


def _nested(name: str, form: str, spec: Spec, item: Any) -> Any:
    """A part of a list: a text, texts (`tuple[str, ...]`), or a pair of a text and one of these."""
    if form == "str":
        return _text(name, replace(spec, form="option"), item)
    if not isinstance(item, list | tuple):
        raise _wrong(name, spec)
    if form == "tuple[str, ...]":
        return tuple(_text(name, replace(spec, form="option"), part) for part in _bounded(name, spec, item, ARGV_ITEMS))
    first, _, second = form.removeprefix("tuple[").removesuffix("]").partition(", ")
    if len(item) != 2:
        raise _wrong(name, spec)
    return (_nested(name, first, spec, item[0]), _nested(name, second, spec, item[1]))


def _object(name: str, spec: Spec, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(name, spec)
    try:
        size = len(canonical(value))
    except RecursionError:
        raise _wrong(name, spec) from None
    if size > OBJECT_BYTES:
        raise UsageError(f"{name} has {size} bytes; at most {OBJECT_BYTES} are taken", code="too_long")
    return value


def _wrong(name: str, spec: Spec) -> UsageError:
    return UsageError(f"{name} has the wrong type: {spec.help}", code="bad_argument")


def _text(name: str, spec: Spec, given: Any) -> str:
    if not isinstance(given, str):
        raise UsageError(f"{name} must be text: {spec.help}", code="bad_argument")
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(f"{name} is not valid text (a lone surrogate); send UTF-8", code="bad_text") from None
    value = given if given.isascii() else normalize("NFC", given)
    size = len(value.encode("utf-8")) if spec.unit == "bytes" else len(value)
    if size > spec.most:
        raise UsageError(f"{name} has {size} {spec.unit}; at most {spec.most} are taken", code="too_long")
    if spec.form == "argument" and not spec.blank and not value.strip():
        raise UsageError(f"{name} is empty: {spec.help}", code="empty")
    if spec.id and value:
        expect(value, spec.id)
    if spec.choices and value and value not in spec.choices:
        raise UsageError(f"{name} is '{value[:40]}'; expected one of {', '.join(spec.choices)}", code="bad_choice")
    return value
