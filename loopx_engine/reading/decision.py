"""`decision`: a question as a person must see it before an answer: who, why, exactly what, what a no means, the proof."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

from loopx_engine.commands.effect import action_of
from loopx_engine.errors import NotFound, UsageError
from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.check import Check
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import GRANT_EXPIRES_MS, GRANT_USES
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.ids import expect
from loopx_engine.reading.acts import acts_of, leaves, undo_of
from loopx_engine.reading.named import Named
from loopx_engine.reading.sound import found, peek
from loopx_engine.reading.telling import cut
from loopx_engine.reading.view import View, row_of
from loopx_engine.rules.risk import raise_only, risk_of_grant

PROOFS = 6
LOOKED_AT = 60
READS = {
    "push": "a push",
    "merge": "a merge",
    "command": "a program outside the box",
    "write": "a file outside its place",
    "post": "a post",
}


def decision(view: View, id: str) -> dict[str, Any]:
    """The decision with this id. Raises `NotFound`, and `LedgerUnusable` where it cannot be read."""
    with view.engine.read() as reader:
        item = found(reader, Decision, expect(id, "decision"))
        if item is None:
            raise NotFound(f"there is no decision {id}", next="loopx list decision")
        view.need(reader, item.goal)
        named = Named(reader)
        goal = peek(reader, Goal, item.goal)
        waiting = item.turn is not None and item.turn in {row[0] for row in reader.rows("turn.running")}
        return {
            "item": row_of(item),
            "goal": {"id": item.goal, "title": named.goal(item.goal), "phase": goal.phase if goal else ""},
            "names": named.actors([item.asked_by]),
            "asked_by_name": named.actor(item.asked_by),
            "waiting": waiting,
            "blocks": [{"id": todo, "title": named.todo(todo)} for todo in item.blocks],
            "because": _because(reader, named, item),
            "acts": acts_of(item),
            "if_no": _if_no(named, item, waiting=waiting),
            "undo": undo_of(item),
            "leaves": leaves(item),
            "proof": list(_proof(reader, named, item)),
            "remember": _remember(item),
            "signature": _signature(view, reader, item),
            "asked": item.asked,
        }


def _because(reader: Transaction, named: Named, item: Decision) -> str:
    """The asker's why, else the todo it is for and the rule that asks."""
    if item.why.strip():
        return item.why
    title = f"“{named.todo(item.blocks[0])}” needs it" if item.blocks else ""
    return " · ".join(part for part in (title, _rule(reader, item)) if part)


def _rule(reader: Transaction, item: Decision) -> str:
    if item.effect is None or not item.rule:
        return ""
    what = READS.get(str(item.effect.get("action")), "this act")
    if item.rule.startswith("preset "):
        return f"{item.rule.removeprefix('preset ')} asks before {what}"
    grant = peek(reader, Grant, item.rule)
    return f"{item.rule} says ask for {grant.kind} {grant.pattern}" if grant else f"{item.rule} says ask"


def _if_no(named: Named, item: Decision, *, waiting: bool) -> str:
    asker = named.actor(item.asked_by)
    base = {"effect": "it is not done", "permission": "it is not allowed", "proposal": "nothing is changed"}.get(
        item.kind, "none of the answers is taken"
    )
    if item.kind == "choice" and not item.options:
        base = "the answer is no"
    if waiting:
        return f"{base}; {asker} is told why and goes on"
    if item.blocks:
        return f"{base}; “{cut(named.todo(item.blocks[0]), 80)}” is taken up again without it"
    return f"{base}; the goal goes on without it" if item.kind != "proposal" else f"{base}; the goal stays as it is"


def _proof(reader: Transaction, named: Named, item: Decision) -> Iterable[dict[str, Any]]:
    """The newest check and review of each thing it stands for: the todos it blocks, for an act all of the goal."""
    seen: set[tuple[str | None, ...]] = set()
    for name in _evidence_ids(reader, item):
        evidence = peek(reader, Evidence, name)
        if evidence is None or evidence.kind not in ("check", "review") or evidence.outcome == "noted":
            continue
        about = (evidence.kind, evidence.todo, evidence.criterion, evidence.check)
        if about in seen or len(seen) == PROOFS:
            continue
        seen.add(about)
        yield _proof_row(reader, named, evidence)


def _evidence_ids(reader: Transaction, item: Decision) -> list[str]:
    if item.blocks and item.kind != "effect":
        found_ids = [reader.rows("evidence.ids_of_todo", todo=todo, limit=LOOKED_AT) for todo in item.blocks]
        return [str(row[0]) for rows in found_ids for row in rows]
    if item.kind not in ("effect", "proposal"):
        return []
    return [str(row[0]) for row in reader.rows("evidence.ids_of_goal", goal=item.goal, limit=LOOKED_AT)]


def _proof_row(reader: Transaction, named: Named, evidence: Evidence) -> dict[str, Any]:
    first = reader.rows("receipt.first_of_subject", subject=evidence.id)[0][0]
    fresh = evidence.state == "fresh"
    passed = evidence.outcome == "pass"
    return {
        "mark": ("good" if passed else "bad") if fresh else "faint",
        "text": _proof_text(reader, named, evidence),
        "evidence": evidence.id,
        "receipt": f"r-{first}" if first else None,
        "at": evidence.at,
        "fresh": fresh,
        "sandbox": evidence.sandbox,
    }


def _proof_text(reader: Transaction, named: Named, evidence: Evidence) -> str:
    said = {"pass": "passed", "fail": "failed"}.get(evidence.outcome, evidence.outcome)
    if evidence.kind == "review":
        note = f": {evidence.ref}" if evidence.ref.strip() else ""
        return cut(f"review by {named.actor(evidence.made_by)} {said}{note}", 200)
    check = peek(reader, Check, evidence.check)
    what = shlex.join(check.argv) if check else "the check"
    count = f", {evidence.count} test{'' if evidence.count == 1 else 's'}" if evidence.count is not None else ""
    left = "" if evidence.outcome == "pass" or evidence.exit is None else f", exit {evidence.exit}"
    note = f"; {evidence.ref}" if evidence.ref.strip() else ""
    return cut(f"{what} {said}{count}{left}{note}", 200)


def _remember(item: Decision) -> dict[str, Any]:
    """What "and from now on" would leave, or why it is not offered."""
    none = {
        "offered": False,
        "kind": "",
        "pattern": "",
        "risk": item.risk,
        "until_ms": GRANT_EXPIRES_MS,
        "uses": GRANT_USES,
    }
    if item.state != "open":
        return {**none, "why_not": f"it is {item.state}"}
    if item.effect is None:
        return {**none, "why_not": "only an answer about an act can be remembered"}
    try:
        action = action_of(item.effect)
    except UsageError as error:
        return {**none, "why_not": error.message}
    named = item.effect.get("protected")
    protected = tuple(map(str, named)) if isinstance(named, list | tuple) else ()
    risk = raise_only(item.risk, risk_of_grant(action.kind, action.text, protected))
    return {**none, "offered": True, "why_not": "", "kind": action.kind, "pattern": action.text, "risk": risk}


def _signature(view: View, reader: Transaction, item: Decision) -> str | None:
    if not item.answer:
        return None
    why = view.engine.trust_of(reader).why_not(item)
    return "verified" if why is None else f"void: {why}"
