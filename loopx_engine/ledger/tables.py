"""Which records are tables, and how a row becomes a record and a change becomes an UPDATE."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from loopx_engine.ledger.statements import quoted
from loopx_engine.model.record import R, column_value, columns

KINDS = {
    "actor": "Actor", "project": "Project", "place": "Place", "goal": "Goal", "criterion": "Criterion", "todo": "Todo",
    "lease": "Lease", "session": "Session", "turn": "Turn", "check": "Check", "evidence": "Evidence", "decision": "Decision",
    "grant": "Grant", "effect": "Effect", "wake": "Wake", "limit": "Limit", "message": "Message", "file": "File",
    "handoff": "Handoff", "watch": "Watch",
}  # fmt: skip
VOLATILE = {("lease", "expires")}


@cache
def class_of(kind: str) -> Any:
    """The record class of a table."""
    from importlib import import_module

    return getattr(import_module(f"loopx_engine.model.{kind}"), KINDS[kind])


def record_of(cls: type[R], names: tuple[str, ...], row: tuple[Any, ...]) -> R:
    """The record of a table row. The table vouches for the fields, so they are set without passing `__init__`."""
    made = object.__new__(cls)
    for at, put, kind in _places(cls, names):
        put(made, row[at] if kind is None else _value(kind, row[at]))
    return made


@cache
def _places(cls: Any, names: tuple[str, ...]) -> tuple[tuple[int, Any, str | None], ...]:
    """Of each field: where it stands in a row, what sets it, and its column kind where that is not the value itself."""
    return tuple(
        (names.index(name), vars(cls)[name].__set__, None if kind in ("text", "integer") else kind)
        for name, kind, _ in columns(cls)
    )


def _value(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "boolean":
        return value == 1
    return () if value == "[]" else _tuples(json.loads(value))


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


@cache
def select_one(kind: str) -> str:
    names = ", ".join(quoted(name) for name in column_names(kind))
    return f"select {names} from {quoted(kind)} where id = ?"


@cache
def column_names(kind: str) -> tuple[str, ...]:
    return tuple(name for name, _, _ in columns(class_of(kind)))


@cache
def insert_row(kind: str) -> str:
    names = column_names(kind)
    return f"insert into {quoted(kind)} ({', '.join(map(quoted, names))}) values ({', '.join('?' for _ in names)})"


def row_values(kind: str, row: dict[str, Any]) -> list[Any]:
    """Column values of a whole row of JSON values."""
    return [column_value(column, row.get(name)) for name, column, _ in columns(class_of(kind))]


def update_row(kind: str, identifier: str, before: dict[str, Any], after: dict[str, Any]) -> tuple[str, list[Any]]:
    """A compare-and-set of the fields that differ: the SQL and its values."""
    kinds = {name: column for name, column, _ in columns(class_of(kind))}
    fixed = [name for name in before if (kind, name) not in VOLATILE]
    sets = ", ".join(f"{quoted(name)} = ?" for name in after)
    same = " and ".join(["id = ?", *(f"{quoted(name)} is ?" for name in fixed)])
    return f"update {quoted(kind)} set {sets} where {same}", [
        *(column_value(kinds[name], after[name]) for name in after),
        identifier,
        *(column_value(kinds[name], before[name]) for name in fixed),
    ]


def schema_of(kind: str) -> str:
    """The CREATE TABLE of a record class as the first schema has it (a test compares it with `sql/schema_1.sql`)."""
    lines = []
    for name, column, nullable in columns(class_of(kind)):
        store = {"text": "text", "integer": "integer", "boolean": "integer", "json": "text"}[column]
        line = (
            f"  {quoted(name)} {store}" + (" primary key" if name == "id" else "") + ("" if nullable else " not null")
        )
        if column == "boolean":
            line += f" check ({quoted(name)} in (0, 1))"
        if column == "json":
            line += (
                f" check (json_valid({quoted(name)}))"
                if not nullable
                else f" check ({quoted(name)} is null or json_valid({quoted(name)}))"
            )
        lines.append(line)
    body = ",\n".join(lines)
    return f"create table {quoted(kind)} (\n{body}\n) strict, without rowid;"
