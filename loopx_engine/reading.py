"""Reads: the one form in which screens, the command line and boxed agents see the ledger. Nothing here writes.

Each read is a function `(engine, who, **arguments) -> dict` of JSON values; an agent's reads end at its goal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loopx_engine.engine import Engine
from loopx_engine.errors import NotFound, Refused, UsageError
from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.effect import Effect
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.handoff import Handoff
from loopx_engine.model.identity import Identity
from loopx_engine.model.ids import kind_of, number_of
from loopx_engine.model.lease import Lease
from loopx_engine.model.message import Message
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.model.receipt import Receipt
from loopx_engine.model.record import values
from loopx_engine.model.session import Session
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.rules.findings import broken_place, in_order, lost_turn, sleeping_goal, uncertain_effect
from loopx_engine.rules.take import obstacle
from loopx_engine.rules.verdict import as_json

CLASSES: dict[str, Any] = {
    cls.KIND: cls
    for cls in (
        Actor, Check, Criterion, Decision, Effect, Evidence, Goal, Grant, Handoff, Message, Place, Project, Session, Todo, Turn
    )
}  # fmt: skip
LISTS = {
    "goal": ("goal.all", None), "todo": ("todo.of_goal", "goal"), "decision": ("decision.of_goal", "goal"),
    "turn": ("turn.of_goal", "goal"), "evidence": ("evidence.of_goal", "goal"), "effect": ("effect.of_goal", "goal"),
    "message": ("message.of_goal", "goal"), "criterion": ("criterion.of_goal", "goal"), "actor": ("actor.all", None),
    "project": ("project.all", None), "place": ("place.all", None), "grant": ("grant.all_live", None),
    "check": ("check.of_goal", "goal"), "handoff": ("handoff.offered", "goal"),
}  # fmt: skip
UNBOUNDED = frozenset({"criterion.of_goal", "check.of_goal", "handoff.offered"})
SECRET_FIELDS = frozenset({"token_hash"})
ROWS = 50


def read_as(engine: Engine, who: Identity, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The read with this name. Raises `UsageError` (`unknown_read`, `bad_argument`), `Refused` (`other_goal`)."""
    read = READS.get(name)
    if read is None:
        raise UsageError(f"there is no read '{name[:40]}'", code="unknown_read", next="loopx --help")
    from inspect import signature

    try:
        signature(read).bind(engine, who, **arguments)
    except TypeError as error:
        raise UsageError(f"wrong arguments for {name}", code="bad_argument", next=f"loopx {name} --help") from error
    return read(engine, who, **arguments)


def next_(engine: Engine, who: Identity, goal: str = "", actor: str = "") -> dict[str, Any]:
    """The verdict of a goal (the only active one when none is named) for an actor."""
    with engine.read() as reader:
        actor_id = _actor_id(reader, who, actor)
        goal_id = goal or who.goal or _only_goal(reader, actor_id)
    _bound(who, goal_id)
    return as_json(engine.verdict(goal_id, actor_id))


def show(engine: Engine, who: Identity, id: str) -> dict[str, Any]:
    """One record by its id, with what belongs to it."""
    kind = kind_of(id)
    if kind == "receipt":
        receipt = engine.ledger.receipt(number_of(id))
        if receipt is None:
            raise NotFound(f"there is no receipt {id}", next="loopx history")
        _bound(who, receipt.stream)
        return {"kind": kind, "item": receipt_row(receipt), "related": {}}
    with engine.read() as reader:
        cls = CLASSES.get(kind)
        record = reader.get(cls, id) if cls is not None else None
        if record is None:
            raise NotFound(f"there is no {kind} {id}", next=f"loopx list {kind}")
        _bound(who, record.id if kind == "goal" else getattr(record, "goal", "") or "")
        return {"kind": kind, "item": row_of(record), "related": _related(engine, reader, kind, record)}


def list_(engine: Engine, who: Identity, noun: str, goal: str = "", limit: int = ROWS) -> dict[str, Any]:
    """The records of a kind, at most `limit`, newest or first in order first."""
    if noun not in LISTS:
        raise UsageError(f"'{noun[:40]}' is no noun; expected one of {', '.join(sorted(LISTS))}", code="unknown_noun")
    statement, scope = LISTS[noun]
    bounded = max(1, min(int(limit), 1000))
    with engine.read() as reader:
        goals = [goal] if goal else ([who.goal] if who.goal else None)
        if scope is None:
            if who.goal:
                raise Refused("an agent's reads end at its goal", code="other_goal", next=f"loopx list todo {who.goal}")
            found = reader.records(CLASSES[noun], statement, limit=bounded)
            return {"kind": noun, "items": [row_of(item) for item in found]}
        if goals is None:
            goals = [item.id for item in reader.records(Goal, "goal.all", limit=20) if item.phase != "archived"]
        rows: list[dict[str, Any]] = []
        for name in goals:
            _bound(who, name)
            kind_of(name)
            extra = {} if statement in UNBOUNDED else {"limit": bounded}
            rows.extend(row_of(item) for item in reader.records(CLASSES[noun], statement, goal=name, **extra))
    return {"kind": noun, "items": rows[:bounded]}


def why(engine: Engine, who: Identity, id: str, actor: str = "") -> dict[str, Any]:
    """Why a todo (or goal) is where it is: its obstacle for an actor, the lease, and the last receipts about it."""
    with engine.read() as reader:
        actor_id = _actor_id(reader, who, actor)
        todo = reader.get(Todo, id) if kind_of(id) == "todo" else None
        goal_id = todo.goal if todo else id
        goal = reader.get(Goal, goal_id) if kind_of(goal_id) == "goal" else None
        lease = reader.get(Lease, id)
        subject = todo or goal or (reader.get(CLASSES[kind_of(id)], id) if kind_of(id) in CLASSES else None)
    if subject is None:
        raise NotFound(f"there is no {kind_of(id)} {id}", next="loopx list goal")
    _bound(who, goal_id if goal else getattr(subject, "goal", ""))
    reasons: list[str] = []
    if todo is not None:
        snapshot = engine.snapshot(todo.goal, actor_id)
        if snapshot.actor is not None and todo.state in ("open", "waiting", "proving"):
            found = obstacle(todo, snapshot, snapshot.actor, engine.clock.now())
            reasons.append(found.text if found else f"{snapshot.actor.name} may take it now")
        else:
            reasons.append(f"it is {todo.state}" + (f", {todo.proof}" if todo.proof else ""))
    elif goal is not None:
        reasons.append(engine.verdict(goal.id, actor_id).text)
    receipts = engine.ledger.last_receipts(subject=id, limit=5)
    return {
        "id": id,
        "reasons": reasons,
        "lease": row_of(lease) if lease is not None and lease.state == "held" else None,
        "receipts": [receipt_row(item) for item in receipts],
    }


def history(engine: Engine, who: Identity, id: str = "", limit: int = ROWS) -> dict[str, Any]:
    """The newest receipts: of a goal, of anything with an id, or of the whole ledger."""
    bounded = max(1, min(int(limit), 1000))
    if who.goal and not id:
        id = who.goal
    if id and kind_of(id) == "goal":
        _bound(who, id)
        found = engine.ledger.last_receipts(stream=id, limit=bounded)
    else:
        found = engine.ledger.last_receipts(subject=id or None, limit=bounded)
        if who.goal:
            found = [item for item in found if item.stream == who.goal]
    return {"id": id or None, "items": [receipt_row(item) for item in found]}


def search(engine: Engine, who: Identity, text: str, limit: int = ROWS) -> dict[str, Any]:
    """Records with these words, newest first."""
    if not text.strip():
        raise UsageError("search for at least one word", code="empty", next="loopx search --help")
    found = engine.ledger.search(text, goal=who.goal, limit=max(1, min(int(limit), 1000)))
    return {
        "text": text,
        "items": [{"kind": kind, "id": name, "goal": goal, "text": said} for kind, name, goal, said in found],
    }


def inbox(engine: Engine, who: Identity, limit: int = ROWS) -> dict[str, Any]:
    """What needs a person: open decisions, gravest first, and findings."""
    now = engine.clock.now()
    with engine.read() as reader:
        decisions = reader.records(Decision, "decision.all_open", limit=max(1, min(int(limit), 1000)))
        names = _names(reader, [item.asked_by for item in decisions])
    rows = [
        {**row_of(item), "asked_by_name": names.get(item.asked_by, item.asked_by)}
        for item in decisions
        if not (item.snoozed_until and item.snoozed_until > now) and (not who.goal or item.goal == who.goal)
    ]
    return {"items": rows, "findings": findings(engine, who)["items"]}


def findings(engine: Engine, who: Identity) -> dict[str, Any]:
    """What needs recovery, derived now."""
    now = engine.clock.now()
    with engine.read() as reader:
        goals = [item for item in reader.records(Goal, "goal.all", limit=200) if item.phase in ("active", "paused")]
        found = []
        for goal in goals:
            if who.goal and goal.id != who.goal:
                continue
            for todo in reader.records(Todo, "todo.unfinished", goal=goal.id, limit=50):
                last = reader.records(Turn, "turn.of_todo", todo=todo.id, limit=1)
                found.append(lost_turn(last[0], todo) if last else None)
            found.extend(broken_place(item, now) for item in reader.records(Place, "place.of_goal", goal=goal.id))
            found.append(sleeping_goal(goal, bool(reader.rows("wake.of", goal=goal.id)), now))
        found.extend(uncertain_effect(item) for item in reader.records(Effect, "effect.unsettled"))
    return {
        "items": [{**values(item), "choices": [values(choice) for choice in item.choices]} for item in in_order(found)]
    }


def status(engine: Engine, who: Identity, project: str = "") -> dict[str, Any]:
    """Needs you, running, next look, broken: counters and indices only, whatever the size of the ledger."""
    now = engine.clock.now()
    with engine.read() as reader:
        open_count = reader.counter("", "decision.open")
        decisions = reader.records(Decision, "decision.all_open", limit=5)
        turns = reader.records(Turn, "turn.all_live")
        goals = {item.id: item for item in reader.records(Goal, "goal.active")}
        names = _names(reader, [*(item.asked_by for item in decisions), *(turn.actor for turn in turns)])
        wake = reader.rows("wake.next")[0][0]
        running = [
            _running(reader, turn, goals.get(turn.goal) or reader.get(Goal, turn.goal), names, now) for turn in turns
        ]
        quiet = [_quiet(reader, goal) for goal in goals.values() if goal.id not in {turn.goal for turn in turns}]
        counts = {name: reader.counter("", name) for name in ("goal.active", "goal.draft", "goal.paused", "goal.done")}
    return {
        "now": now,
        "needs_you": [_asked(item, names, now) for item in decisions],
        "needs_you_count": open_count,
        "running": running,
        "active": quiet[:20],
        "broken": findings(engine, who)["items"][:5],
        "next_look": int(wake) if wake is not None else None,
        "counts": counts,
    }


def row_of(record: Any) -> dict[str, Any]:
    """A record as JSON values, without hashes of tokens."""
    return {name: value for name, value in values(record).items() if name not in SECRET_FIELDS}


def receipt_row(receipt: Receipt) -> dict[str, Any]:
    """A receipt as JSON values, its payload opened."""
    row = {name: value for name, value in values(receipt).items() if name != "payload"}
    payload = receipt.payload or {}
    changes = [
        {**change, "before": _plain(change.get("before")), "after": _plain(change.get("after"))}
        for change in payload.get("changes", [])
    ]
    return {
        "id": receipt.id,
        **row,
        "arguments": payload.get("arguments"),
        "changes": changes,
        "answer": payload.get("answer"),
    }


def _plain(row: Any) -> Any:
    return {name: value for name, value in row.items() if name not in SECRET_FIELDS} if isinstance(row, dict) else row


def _actor_id(reader: Transaction, who: Identity, named: str) -> str:
    if who.kind == "agent":
        return who.actor
    if not named:
        agents = reader.records(Actor, "actor.agents")
        return agents[0].id if agents else who.actor
    found = reader.get(Actor, named) if named.startswith("a-") else None
    matches = [found] if found else reader.records(Actor, "actor.by_name", name=named)
    if not matches:
        raise NotFound(f"there is no actor '{named[:40]}'", next="loopx list actor")
    return matches[0].id


def _only_goal(reader: Transaction, actor: str) -> str:
    goals = reader.rows("goal.active_for", actor=actor)
    if not goals:
        raise NotFound("no goal is active", code="no_goal", next="loopx goal add TITLE, then loopx goal resume GOAL")
    return str(goals[0][0])


def _bound(who: Identity, goal: str) -> None:
    if who.goal and goal and goal != who.goal:
        raise Refused("an agent's reads end at its goal", code="other_goal", next=f"loopx show {who.goal}")


def _names(reader: Transaction, ids: list[str]) -> dict[str, str]:
    return {name: actor.name for name in set(ids) if (actor := reader.get(Actor, name)) is not None}


def _asked(decision: Decision, names: dict[str, str], now: int) -> dict[str, Any]:
    return {
        "id": decision.id,
        "goal": decision.goal,
        "risk": decision.risk,
        "question": decision.question,
        "asked_by": names.get(decision.asked_by, decision.asked_by),
        "age_ms": max(0, now - decision.created_at),
        "answers": [name for name, _ in decision.options] or ["yes", "no"],
    }


def _running(reader: Transaction, turn: Turn, goal: Goal | None, names: dict[str, str], now: int) -> dict[str, Any]:
    todo = reader.get(Todo, turn.todo) if turn.todo else None
    return {
        **_quiet(reader, goal),
        "turn": turn.id,
        "actor": names.get(turn.actor, turn.actor),
        "todo": turn.todo,
        "title_todo": todo.title if todo else turn.purpose,
        "state": "proving" if turn.state == "finishing" else "running",
        "for_ms": max(0, now - turn.begun_at),
    }


def _quiet(reader: Transaction, goal: Goal | None) -> dict[str, Any]:
    if goal is None:
        return {"goal": "", "title": "", "done": 0, "todos": 0}
    done = reader.counter(goal.id, "todo.done")
    total = reader.counter(goal.id, "todo") - reader.counter(goal.id, "todo.dropped")
    return {"goal": goal.id, "title": goal.title, "done": done, "todos": total}


def _related(engine: Engine, reader: Transaction, kind: str, record: Any) -> dict[str, Any]:
    if kind == "goal":
        return {
            "criteria": [row_of(item) for item in reader.records(Criterion, "criterion.of_goal", goal=record.id)],
            "todos": [row_of(item) for item in reader.records(Todo, "todo.of_goal", goal=record.id, limit=ROWS)],
            "decisions": [row_of(item) for item in reader.records(Decision, "decision.open", goal=record.id)],
            "places": [row_of(item) for item in reader.records(Place, "place.of_goal", goal=record.id)],
            "todo_count": reader.counter(record.id, "todo"),
        }
    if kind == "todo":
        check = reader.get(Check, record.check) if record.check else None
        lease = reader.get(Lease, record.id)
        return {
            "check": row_of(check) if check else None,
            "lease": row_of(lease) if lease and lease.live(engine.clock.now()) else None,
            "evidence": [
                row_of(item) for item in reader.records(Evidence, "evidence.of_todo", todo=record.id, limit=10)
            ],
            "turns": [row_of(item) for item in reader.records(Turn, "turn.of_todo", todo=record.id, limit=10)],
        }
    if kind in ("decision", "grant"):
        trust = engine.trust_of(reader)
        signed = bool(getattr(record, "answer", "")) or kind == "grant"
        return {
            "signature": ("verified" if (said := trust.why_not(record)) is None else f"void: {said}")
            if signed
            else None
        }
    return {}


READS: dict[str, Callable[..., dict[str, Any]]] = {
    "next": next_,
    "show": show,
    "list": list_,
    "why": why,
    "history": history,
    "search": search,
    "inbox": inbox,
    "findings": findings,
    "status": status,
}
