"""`inbox`: what waits for a person, what needs recovery, and what was answered in the last day."""

from __future__ import annotations

from typing import Any

from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.decision import RISKS, Decision
from loopx_engine.model.defaults import DAY
from loopx_engine.reading.findings import finding_row, found_in
from loopx_engine.reading.named import Named
from loopx_engine.reading.overview import in_project, project_at
from loopx_engine.reading.sound import needed, rows_of, tried
from loopx_engine.reading.view import ROWS, View, bounded, row_of

ANSWERED = 10


def inbox(view: View, here: str = "", limit: int = ROWS) -> dict[str, Any]:
    """What needs a person: open decisions, this project's first, gravest first, what blocks most first; then findings."""
    with view.engine.read() as reader:
        named = Named(reader)
        own = in_project(reader, project_at(reader, here))
        asked = asked_in_order(view, reader, own)
        live = {row[0] for row in reader.rows("turn.running")}
        return {
            "items": rows_of(asked[: bounded(limit)], lambda name: _item(reader, named, live, name)),
            "findings": [finding_row(item, named) for item in found_in(view, reader)],
            "answered": _answered(view, reader, named),
            "total": len(asked),
        }


def asked_in_order(view: View, reader: Transaction, own: frozenset[str]) -> list[str]:
    """The ids of the decisions that wait now: own goals first, by risk, by how many todos they block, oldest first."""
    found = [row for row in reader.rows("decision.asked", now=view.now) if view.sees(reader, row[1])]
    found.sort(key=lambda row: (row[1] not in own, -_gravity(row[2]), -row[3]))
    return [str(row[0]) for row in found]


def _gravity(risk: str) -> int:
    return RISKS.index(risk) if risk in RISKS else len(RISKS)


def _item(reader: Transaction, named: Named, live: set[str], name: str) -> dict[str, Any]:
    item = needed(reader, Decision, name)
    return {
        **row_of(item),
        "asked_by_name": named.actor(item.asked_by),
        "goal_title": named.goal(item.goal),
        "blocks_titles": [named.todo(todo) for todo in item.blocks],
        "waiting": item.turn in live,
    }


def _answered(view: View, reader: Transaction, named: Named) -> list[dict[str, Any]]:
    found = reader.rows("decision.answered_since", since=view.now - DAY, limit=ANSWERED)
    return [_answered_row(view, reader, named, *row) for row in found if view.sees(reader, row[1])]


def _answered_row(view: View, reader: Transaction, named: Named, name: str, goal: str, at: int) -> dict[str, Any]:
    """One answer; where its record cannot be read, what is left of it stands there beside `poisoned`."""
    kept = {
        "id": name, "goal": goal, "goal_title": named.goal(goal), "question": "", "answer": "", "text": "", "reason": "",
        "answered_at": at, "by": "", "grant": None,
    }  # fmt: skip
    row, why = tried(lambda: {**kept, **_answer(view, reader, named, needed(reader, Decision, name))})
    return row if not why else {**kept, "poisoned": why}


def _answer(view: View, reader: Transaction, named: Named, item: Decision) -> dict[str, Any]:
    left = reader.rows("grant.of_decision", decision=item.id)
    chosen = dict(item.options).get(item.answer, "")
    return {
        "question": item.question,
        "answer": item.answer,
        "text": item.answer_text or chosen,
        "reason": item.reason,
        "by": _signer(view, reader, named, item),
        "grant": left[0][0] if left else None,
    }


def _signer(view: View, reader: Transaction, named: Named, item: Decision) -> str:
    """Whose signature verifies now; an answer that nobody signed says so."""
    if item.proof is None or not view.engine.trust_of(reader)(item):
        return "nobody: its signature is void"
    act: Any = item.proof["act"]
    return named.actor(str(act["actor"]))
