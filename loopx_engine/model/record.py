"""A record is a frozen dataclass whose fields are JSON values; this module maps it to a row and back.

Column kinds follow from the annotation: `str` and `int` map to themselves, `bool` to 0/1, all else to canonical JSON text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Literal, Protocol, TypeVar, dataclass_transform

from loopx_engine.canonical import canonical

Row = dict[str, Any]
Column = Literal["text", "integer", "boolean", "json"]


class Record(Protocol):
    """What every noun has: its table name, and an id that is unique in the ledger."""

    KIND: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=Record)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def noun(cls: type) -> Any:
    """Frozen, slotted, keyword-only dataclass: the form of every record.

    Equality, hash and repr are shared functions, not generated ones: that halves the cost of a cold call.
    """
    made: Any = dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)(cls)
    made.__eq__ = _equal
    made.__hash__ = _hash
    made.__repr__ = _repr
    return made


def _state(record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in record.__dataclass_fields__)


def _equal(self: Any, other: object) -> bool:
    return _state(self) == _state(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash((type(self), getattr(self, "id", None)))


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
    return f"{type(self).__name__}({shown})"


@cache
def columns(cls: Any) -> tuple[tuple[str, Column, bool], ...]:
    """(name, column kind, nullable) of each field, in order."""
    found: list[tuple[str, Column, bool]] = []
    for field in fields(cls):
        annotation = str(field.type)
        nullable = annotation.endswith(" | None")
        base = annotation.removesuffix(" | None")
        kinds: dict[str, Column] = {"str": "text", "int": "integer", "bool": "boolean"}
        found.append((field.name, kinds.get(base, "text" if base in TEXT_TYPES else "json"), nullable))
    return tuple(found)


TEXT_TYPES = frozenset(
    {
        "ActorKind", "Role", "Preset", "Risk", "DecisionKind", "PermissionKind", "Answer", "PlaceKind", "TodoKind",
        "Purpose", "Origin", "EvidenceKind", "CheckOutcome", "CheckRole", "State",
    }
)  # fmt: skip


def values(record: Any) -> Row:
    """The record as JSON values (tuples become lists): the form that receipts and screens carry."""
    return {name: _json_value(getattr(record, name)) for name, _, _ in columns(_class(record))}


def from_values(cls: type[R], row: Mapping[str, Any]) -> R:
    """The record again from `values`."""
    return cls(**{name: _tuples(row[name]) if kind == "json" else row[name] for name, kind, _ in columns(cls)})


def stored(record: Any) -> Row:
    """The record as column values of a table: JSON columns as canonical text, booleans as 0 and 1."""
    return {name: column_value(kind, getattr(record, name)) for name, kind, _ in columns(_class(record))}


def column_value(kind: Column, value: Any) -> Any:
    """One field as its column holds it."""
    if value is None:
        return None
    if kind == "json":
        return canonical(value).decode()
    return int(value) if kind == "boolean" else value


def _class(record: Any) -> Any:
    return type(record)


def _json_value(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {key: _json_value(item) for key, item in value.items()}
    return value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
