"""The verdict: who acts next on a goal, and why. One pure function of (snapshot, goal, actor, now); first row wins.

Equal inputs give equal bytes; `as_json` is at most 2 KB; every snapshot matches a row (MODEL.md 5).
"""

from __future__ import annotations

import json
from typing import Any

from loopx_engine.canonical import digest
from loopx_engine.model.limits import VERDICT_BYTES
from loopx_engine.model.record import noun, values
from loopx_engine.rules.snapshot import Snapshot

NOTICES = 5
TEXT = 300
SCHEMA = 40


@noun
class Verdict:
    """`basis` digests the frontier it rests on; `actions` are commands this actor may give next; `next_look` UTC ms."""

    kind: str
    reason: str
    text: str
    todo: str | None = None
    decision: str | None = None
    actions: tuple[str, ...] = ()
    next_look: int | None = None
    basis: str = ""
    notices: tuple[str, ...] = ()


def verdict(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict:
    """The first row that matches."""
    from dataclasses import replace

    from loopx_engine.rules.rows import ROWS, next_look, notices

    found = next(made for row in ROWS if (made := row(snapshot, goal, actor, now)) is not None)
    return replace(
        found,
        text=_cut(found.text),
        next_look=found.next_look if found.next_look is not None else next_look(snapshot, now),
        basis=_basis(snapshot, found, goal, actor),
        notices=tuple(_cut(item, 120) for item in notices(snapshot, found)[:NOTICES]),
    )


def as_json(found: Verdict) -> dict[str, Any]:
    """The verdict as JSON values, at most `VERDICT_BYTES` as they are printed: ASCII, with their schema."""
    row = values(found)
    for name in ("notices", "actions"):
        while _printed(row) > VERDICT_BYTES and row[name]:
            row[name] = row[name][:-1]
    while _printed(row) > VERDICT_BYTES and row["text"]:
        row["text"] = row["text"][: len(row["text"]) // 2]
    return row


def _printed(row: dict[str, Any]) -> int:
    return len(json.dumps(row)) + SCHEMA


def _cut(text: str, most: int = TEXT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _basis(snapshot: Snapshot, found: Verdict, goal: str, actor: str) -> str:
    """What the engine itself asked about this frontier is no part of it: its question makes no verdict new."""
    revision = snapshot.goal.revision if snapshot.goal else 0
    asked = {item.id for item in snapshot.decisions if item.cause and not item.blocks}
    return digest(
        {
            "goal": [goal, revision, snapshot.goal.phase if snapshot.goal else ""],
            "actor": actor,
            "kind": found.kind,
            "reason": found.reason,
            "todo": found.todo,
            "decision": None if found.decision in asked else found.decision,
            "todos": [[todo.id, todo.state, todo.stalls, todo.failures, todo.review] for todo in snapshot.todos],
            "criteria": [[item.number, item.state] for item in snapshot.criteria],
            "decisions": [[item.id, item.state] for item in snapshot.decisions if item.id not in asked],
            "places": [[item.id, item.state, item.holds] for item in snapshot.places],
            "turns": [[item.id, item.state] for item in snapshot.turns],
            "spent": snapshot.spent_turns if found.reason == "budget_spent" else None,
        }
    )
