"""A record is a frozen dataclass whose fields are JSON values; this module maps it to a row and back.

Column kinds follow from the annotation: `str` and `int` map to themselves, `bool` to 0/1, all else to canonical JSON text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Literal, Protocol, TypeVar, dataclass_transform

from loopx_engine.canonical import canonical

Row = dict[str, Any]
Column = Literal["text", "integer", "boolean", "json"]
EMPTY = "[]"


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

    What `dataclass` makes of it (`__init__`, the fields) is made when it is first asked for: a cold call meets a hundred of
    these classes and uses a few. Equality, hash and repr are shared functions, not generated ones.
    """
    names = tuple(name for name, said in cls.__annotations__.items() if not str(said).startswith("ClassVar"))
    plain = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    body = {name: value for name, value in plain.items() if name not in names}
    made: Any = type(cls.__name__, cls.__bases__, {**body, **SHARED, "__slots__": names})
    for name in ("__dataclass_fields__", "__dataclass_params__"):
        setattr(made, name, _Later(name, plain))
    return made


class _Later:
    """What `dataclass` makes of a noun, made when somebody first asks and then put in its place."""

    def __init__(self, name: str, plain: dict[str, Any]) -> None:
        self._name = name
        self._plain = plain

    def __get__(self, record: object, cls: Any) -> Any:
        from dataclasses import dataclass

        # Without words of its own a class would get its signature as its doc, at the price of all the rest.
        twin = type(cls.__name__, cls.__bases__, {**self._plain, "__doc__": cls.__doc__ or cls.__name__})
        whole = vars(dataclass(frozen=True, kw_only=True, repr=False, eq=False)(twin))
        for name in ("__init__", "__dataclass_params__", "__dataclass_fields__"):
            setattr(cls, name, whole[name])
        return whole[self._name]


def _init(self: Any, /, **given: Any) -> None:
    """Stands in for the `__init__` of a noun until its first record."""
    cls = type(self)
    cls.__dataclass_fields__  # noqa: B018 - puts the real one in place
    cls.__init__(self, **given)


def _refuse(self: Any, name: str, *_value: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__name__}.{name} never changes: make a new one with `replace`")


def _set_state(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, value)


def _state(record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in record.__slots__)


def _equal(self: Any, other: object) -> bool:
    return _state(self) == _state(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash((type(self), getattr(self, "id", None)))


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{type(self).__name__}({shown})"


SHARED: dict[str, Any] = {
    "__init__": _init,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__getstate__": _state,
    "__setstate__": _set_state,
    "__eq__": _equal,
    "__hash__": _hash,
    "__repr__": _repr,
}  # fmt: skip


@cache
def columns(cls: Any) -> tuple[tuple[str, Column, bool], ...]:
    """(name, column kind, nullable) of each field, in order."""
    found: list[tuple[str, Column, bool]] = []
    for name in cls.__slots__:
        annotation = str(cls.__annotations__[name])
        nullable = annotation.endswith(" | None")
        base = annotation.removesuffix(" | None")
        kinds: dict[str, Column] = {"str": "text", "int": "integer", "bool": "boolean"}
        found.append((name, kinds.get(base, "text" if base in TEXT_TYPES else "json"), nullable))
    return tuple(found)


TEXT_TYPES = frozenset(
    {
        "ActorKind", "Role", "Preset", "Risk", "DecisionKind", "PermissionKind", "Answer", "PlaceKind", "TodoKind",
        "Purpose", "Origin", "EvidenceKind", "CheckOutcome", "CheckRole", "State",
    }
)  # fmt: skip


def values(record: Any) -> Row:
    """The record as JSON values (tuples become lists): the form that receipts and screens carry."""
    return {
        name: _json_value(getattr(record, name)) if kind == "json" else getattr(record, name)
        for name, kind, _ in columns(_class(record))
    }


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
        return EMPTY if isinstance(value, tuple | list) and not value else canonical(value).decode()
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
