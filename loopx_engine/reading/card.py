"""`card`: one goal with all that is asked of it: verdict, rules, what was spent, criteria, open questions, turns, its story."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loopx_engine.commands.snapshot import grant_uses
from loopx_engine.errors import NotFound
from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import LEASE_MS
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.ids import expect
from loopx_engine.model.lease import Lease
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.reading.goals import word_of
from loopx_engine.reading.named import Named
from loopx_engine.reading.sound import found, needed, peek, rows_of, tried
from loopx_engine.reading.telling import TOLD, sentence_of
from loopx_engine.reading.view import ROWS, View, row_of
from loopx_engine.rules.permission import in_force

HISTORY = 20
SCANNED = 1000
RULES = 3
SAYS = {"allow": "allowed", "deny": "denied", "ask": "asks"}


def card(view: View, goal: str) -> dict[str, Any]:
    """The goal with this id. Raises `NotFound`, and `LedgerUnusable` where the goal itself cannot be read."""
    with view.engine.read() as reader:
        item = found(reader, Goal, expect(goal, "goal"))
        if item is None:
            raise NotFound(f"there is no goal {goal}", next="loopx list goal")
        view.need(reader, item.id)
        named = Named(reader)
        live = _live(reader, named, item.id)
        wake = reader.rows("wake.of", goal=item.id)
        decisions = _decisions(view, reader, named, item.id)
        mentioned = [item.created_by, *item.agents, *item.reviewers, *(row["actor"] for row in live)]
        return {
            "goal": row_of(item),
            "word": word_of(item, bool(live)),
            "project": _project(reader, item),
            "names": named.actors([*mentioned, *(row.get("asked_by") for row in decisions)]),
            "verdict": _verdict(view, reader, item),
            "rules": _rules(view, reader, item),
            "spent": _spent(reader, item, view.now),
            "criteria": rows_of(_ids(reader, "criterion.ids_of_goal", item.id), lambda name: _criterion(reader, name)),
            "counts": _counts(reader, item.id),
            "decisions": decisions,
            "live": live,
            "history": list(_history(view, reader, item.id)),
            "places": rows_of(
                _ids(reader, "place.ids_of_goal", item.id), lambda name: row_of(needed(reader, Place, name))
            ),
            "grants": rows_of(_grants(view, reader, item.id), lambda name: row_of(needed(reader, Grant, name))),
            "next_wake": int(wake[0][0]) if wake else None,
        }


def _ids(reader: Transaction, statement: str, goal: str) -> list[str]:
    return [str(row[0]) for row in reader.rows(statement, goal=goal)]


def _project(reader: Transaction, goal: Goal) -> dict[str, str]:
    project = peek(reader, Project, goal.project)
    return {
        "id": goal.project,
        "name": project.name if project else goal.project,
        "root": project.root if project else "",
    }


def _verdict(view: View, reader: Transaction, goal: Goal) -> dict[str, Any]:
    """Who acts next as the goal's first agent sees it (else as the first agent there is, else as who looks)."""
    actor = view.actor or next(iter(goal.agents), "") or _first_agent(reader) or view.who.actor
    ruling, why = tried(view.engine.verdict, goal.id, actor)
    if why:
        return {
            "kind": "error", "reason": "ledger_damaged", "text": f"what decides who acts next is damaged: {why}", "todo": None,
            "decision": None, "actions": ["verify"], "next_look": None,
        }  # fmt: skip
    return {
        "kind": ruling.kind, "reason": ruling.reason, "text": ruling.text, "todo": ruling.todo, "decision": ruling.decision,
        "actions": list(ruling.actions), "next_look": ruling.next_look,
    }  # fmt: skip


def _first_agent(reader: Transaction) -> str:
    agents, why = tried(reader.records, Actor, "actor.agents")
    return agents[0].id if agents and not why else ""


def _rules(view: View, reader: Transaction, goal: Goal) -> str:
    """What its turns may do unasked: preset, network, and what was granted or denied beyond them."""
    uses, why = tried(grant_uses, reader, goal.id)
    trusted = view.engine.trust_of(reader)
    said = []
    for name in _grants(view, reader, goal.id) if not why else ():
        grant = peek(reader, Grant, name)
        if grant is not None and in_force(grant, uses.get(grant.id, 0), goal.id, view.now) and trusted(grant):
            said.append(f"{grant.kind} {grant.pattern} {SAYS[grant.effect]}")
    network = "yes" if goal.network and goal.autonomy != "careful" else "asks"
    pushes = [] if any(line.startswith("push ") for line in said) else ["push asks"]
    more = [f"{len(said) - RULES} more"] if len(said) > RULES else []
    return " · ".join([goal.autonomy, f"network {network}", *pushes, *said[:RULES], *more])


def _grants(view: View, reader: Transaction, goal: str) -> list[str]:
    return [str(row[0]) for row in reader.rows("grant.ids_live", goal=goal, now=view.now)]


def _spent(reader: Transaction, goal: Goal, now: int) -> dict[str, int | None]:
    """Turns and days since it became active; what no turn reported is None, not 0."""
    until = goal.ended_at if goal.ended_at is not None else now
    return {
        "turns": reader.counter(goal.id, "turn"),
        "days_ms": max(0, until - goal.active_since) if goal.active_since is not None else 0,
        "input_tokens": reader.counter(goal.id, "turn.input_tokens") or None,
        "output_tokens": reader.counter(goal.id, "turn.output_tokens") or None,
        "cost": reader.counter(goal.id, "turn.cost") or None,
    }


def _counts(reader: Transaction, goal: str) -> dict[str, int]:
    """`todos` are the wanted ones, `open` those that are not done yet."""
    todos = reader.counter(goal, "todo") - reader.counter(goal, "todo.dropped")
    done = reader.counter(goal, "todo.done")
    return {"todos": todos, "done": done, "proved": reader.counter(goal, "todo.proved"), "open": todos - done}


def _criterion(reader: Transaction, name: str) -> dict[str, Any]:
    item = needed(reader, Criterion, name)
    check, evidence = peek(reader, Check, item.check), peek(reader, Evidence, item.evidence)
    return {
        **row_of(item),
        "argv": list(check.argv) if check else None,
        "evidence": row_of(evidence) if evidence else None,
    }


def _decisions(view: View, reader: Transaction, named: Named, goal: str) -> list[dict[str, Any]]:
    """The open ones, oldest first; those that were put off come last."""
    found_ids = reader.rows("decision.ids_open", goal=goal, limit=ROWS)
    later = sorted(found_ids, key=lambda row: (row[1] or 0) > view.now)

    def one(name: str) -> dict[str, Any]:
        item = needed(reader, Decision, name)
        return {**row_of(item), "asked_by_name": named.actor(item.asked_by)}

    return rows_of((str(row[0]) for row in later), one)


def _live(reader: Transaction, named: Named, goal: str) -> list[dict[str, Any]]:
    """The turns that run now, each with the lease it holds."""
    rows = []
    for turn, actor, todo, state, purpose, begun_at, deadline, attended, transcript, sandbox in reader.rows(
        "turn.running_of", goal=goal
    ):
        lease = peek(reader, Lease, todo or goal)
        held = lease is not None and lease.state == "held" and lease.turn == turn
        rows.append(
            {
                "turn": turn, "actor": actor, "actor_name": named.actor(actor), "todo": todo, "todo_title": named.todo(todo),
                "state": "proving" if state == "finishing" else "running", "purpose": purpose, "begun_at": begun_at,
                "deadline": deadline, "lease_expires": lease.expires if lease is not None and held else None,
                "lease_length_ms": LEASE_MS if attended else max(1, deadline - begun_at), "transcript": transcript,
                "sandbox": sandbox,
            }
        )  # fmt: skip
    return rows


def _history(view: View, reader: Transaction, goal: str) -> Iterable[dict[str, Any]]:
    """The newest receipts that move the goal's story, newest first."""
    told = 0
    for seq, at, verb in reader.rows("receipt.told", stream=goal, limit=SCANNED):
        if verb in TOLD and told < HISTORY:
            receipt = tried(view.engine.ledger.receipt, seq)[0]
            text, voice = sentence_of(reader, receipt) if receipt is not None else (f"r-{seq} cannot be read", "bad")
            if text:
                told += 1
                yield {"receipt": f"r-{seq}", "at": at, "text": text, "voice": voice}
