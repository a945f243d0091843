"""Counters: every number that is shown is kept, per goal and for the whole ledger (`""`), as changes are applied."""

from __future__ import annotations

from typing import Any

from loopx_engine.model.states import MACHINES
from loopx_engine.rules.proof import serves_criterion

SERVING = {"open": "todo.serving", "waiting": "todo.serving", "proving": "todo.serving", "done": "todo.served"}
USAGE = (
    ("input_tokens", "turn.tokens"), ("output_tokens", "turn.tokens"), ("cost", "turn.cost"),
    ("input_tokens", "turn.input_tokens"), ("output_tokens", "turn.output_tokens"),
)  # fmt: skip


def counter_deltas(
    kind: str, before: dict[str, Any] | None, after: dict[str, Any] | None
) -> dict[tuple[str, str], int]:
    """(goal, name) -> change, for one record's whole rows before and after."""
    found: dict[tuple[str, str], int] = {}
    for row, sign in ((before, -1), (after, 1)):
        if row is None:
            continue
        for name, amount in _counted(kind, row):
            for goal in {_goal(kind, row), ""}:
                key = (goal, name)
                found[key] = found.get(key, 0) + sign * amount
    return {key: value for key, value in found.items() if value}


def _goal(kind: str, row: dict[str, Any]) -> str:
    return str(row["id"] if kind == "goal" else row.get("goal") or "")


def _counted(kind: str, row: dict[str, Any]) -> list[tuple[str, int]]:
    counted = [(kind, 1)]
    machine = MACHINES.get(kind)
    if machine is not None:
        counted.append((f"{kind}.{row[machine[0]]}", 1))
    if kind == "todo" and row["state"] in SERVING:
        counted.extend((f"{SERVING[row['state']]}.{number}", 1) for number in row["serves"])
    if kind == "todo" and row["state"] == "done" and serves_criterion(row["proof"]):
        counted.append(("todo.proved", 1))
    if kind == "evidence":
        counted.append((f"evidence.{row['outcome']}", 1))
    if kind == "turn":
        counted.extend((name, int(row[field])) for field, name in USAGE if row.get(field))
        if row["state"] in ("settled", "lost") and row.get("input_tokens") is None:
            counted.append(("turn.usage_unknown", 1))
    return counted
