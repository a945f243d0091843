"""Sound: a record that cannot be read, or stands in a state that nobody knows, costs its own row and never the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from loopx_engine.errors import LedgerUnusable, UsageError
from loopx_engine.ledger.faults import translated
from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.record import R, columns
from loopx_engine.model.states import MACHINES

T = TypeVar("T")
Row = dict[str, Any]
UNREADABLE = "what is kept of it cannot be read"
BROKEN = (KeyError, TypeError, ValueError, AttributeError, IndexError)


def found(reader: Transaction, cls: type[R], identifier: str | None) -> R | None:
    """The record, whole and in a known state; None where there is none. Raises `LedgerUnusable` (`damaged_record`)."""
    if not identifier:
        return None
    why = UNREADABLE
    try:
        with translated():
            record = reader.get(cls, identifier)
        why = flaw_of(record) if record is not None else ""
    except LedgerUnusable:
        record = None
    if why:
        raise LedgerUnusable(
            f"{identifier} is damaged: {why}", code="damaged_record", next="loopx verify", details={"why": why}
        )
    return record


def needed(reader: Transaction, cls: type[R], identifier: str) -> R:
    """The record, which must be there."""
    record = found(reader, cls, identifier)
    if record is None:
        raise LedgerUnusable(f"{identifier} is gone", code="damaged_record", details={"why": "it is gone"})
    return record


def peek(reader: Transaction, cls: type[R], identifier: str | None) -> R | None:
    """The record where it is sound, else None: for what only stands beside something."""
    try:
        return found(reader, cls, identifier)
    except LedgerUnusable:
        return None


def rows_of(ids: Iterable[str], make: Callable[[str], Row]) -> list[Row]:
    """One row an id, in this order; one that cannot be made says why (`poisoned`)."""
    return [row if why == "" else {"id": name, "poisoned": why} for name in ids for row, why in (tried(make, name),)]


def tried(make: Callable[..., T], *given: Any) -> tuple[T | Any, str]:
    """What `make` gives and no word, or None and why it cannot be made."""
    try:
        with translated():
            return make(*given), ""
    except LedgerUnusable as error:
        return None, str(error.details.get("why") or UNREADABLE)
    except UsageError as error:
        return None, error.message
    except BROKEN:
        return None, UNREADABLE


def flaw_of(record: Any) -> str:
    """What is wrong with a record in a sentence; empty where each field has its type and its state is a known one."""
    cls: Any = type(record)
    if cls.KIND in MACHINES:
        field, machine = MACHINES[cls.KIND]
        if getattr(record, field) not in machine:
            return f"its {field} '{getattr(record, field)[:40]}' is none that is known"
    for name, hint in _checked(cls):
        if not _fits(getattr(record, name), hint):
            return f"its {name} is not what it should be"
    return ""


@cache
def _checked(cls: Any) -> tuple[tuple[str, Any], ...]:
    """The fields whose type the table does not keep: JSON, and words out of a list."""
    hints = get_type_hints(cls)
    kinds = {name: kind for name, kind, _ in columns(cls)}
    return tuple(
        (name, hints[name]) for name, kind in kinds.items() if kind == "json" or get_origin(hints[name]) is Literal
    )


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is tuple and inner[-1] is Ellipsis:
        return isinstance(value, tuple) and all(_fits(item, inner[0]) for item in value)
    if origin is tuple:
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(_fits, value, inner))
    if origin is dict:
        return isinstance(value, dict)
    return value is None if hint is NoneType else type(value) is hint
