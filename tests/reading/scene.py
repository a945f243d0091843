"""What tests of reads share: reading as somebody, poisoned rows, and what a read asks of the database."""

from __future__ import annotations

from typing import Any

from engine_kit import OWNER, Kit

from loopx_engine.model.identity import Identity
from loopx_engine.reading import read_as

PUSH = {"action": "push", "remote": "origin", "ref": "main", "sha": "a" * 40, "remote_has": "", "protected": ["main"]}
BAD_TEXT = "cast(x'ff41' as text)"


def read(kit: Kit, name: str, who: Identity = OWNER, **arguments: Any) -> dict[str, Any]:
    """One read; it may write nothing."""
    before = kit.engine.ledger.connection().total_changes  # type: ignore[attr-defined]
    found = read_as(kit.engine, who, name, arguments)
    assert kit.engine.ledger.connection().total_changes == before  # type: ignore[attr-defined]
    return found


def poison(kit: Kit, kind: str, name: str, field: str, sql: str) -> None:
    """Writes an SQL expression into a field of one record, past every constraint that a program could get past."""
    kit.tamper("pragma ignore_check_constraints = on")
    kit.tamper(f'update "{kind}" set "{field}" = {sql} where id = :id', id=name)


def statements(kit: Kit, name: str, **arguments: Any) -> list[str]:
    """The statements one read gives to the database."""
    connection = kit.engine.ledger.connection()  # type: ignore[attr-defined]
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    try:
        read_as(kit.engine, OWNER, name, arguments)
    finally:
        connection.set_trace_callback(None)
    return [line for line in asked if line not in ("begin", "rollback")]


def bulk_todos(kit: Kit, goal: str, count: int) -> None:
    """`count` open todos behind the ledger's back, with their counters; every tenth is dropped."""
    kit.tamper(
        """insert into todo
        with recursive n(i) as (select 1000 union all select i + 1 from n where i < 1000 + :count - 1)
        select 't-' || i, :goal, 'work', 'todo ' || i, '', iif(i % 10, 'open', 'dropped'), i * 1024, '[]', '[]', null, '[]',
        '[]', null, '[]', null, null, '', '', null, '', '', 0, 0, '[]', '', '', 1, 'a-1', 1, null from n""",
        goal=goal,
        count=count,
    )
    dropped = len([number for number in range(1000, 1000 + count) if number % 10 == 0])
    for name, value in (("todo", count), ("todo.dropped", dropped), ("todo.open", count - dropped)):
        kit.tamper(
            "insert into counter values (:goal, :name, :value) on conflict do update set value = value + excluded.value",
            goal=goal,
            name=name,
            value=value,
        )
