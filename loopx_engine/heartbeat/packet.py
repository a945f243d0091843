"""The packet: what an agent gets for one turn, built from the ledger alone and at most 8 KB.

With or without a transcript it is the same bytes. Long texts are cut to 2 KB (the rest is there by `show`); when it is
still too large, history goes before messages, and goal, criteria, todo and open decisions never go.
"""

from __future__ import annotations

from typing import Any

from loopx_engine.canonical import canonical, digest
from loopx_engine.commands.snapshot import load_snapshot
from loopx_engine.consent.trust import Trust
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.handoff import Handoff
from loopx_engine.model.limits import PACKET_BYTES, PACKET_TEXT_BYTES
from loopx_engine.model.message import Message
from loopx_engine.model.place import Place
from loopx_engine.model.reader import Reader
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn

SPARE_BYTES = 160
HISTORY = ("left_behind", "evidence", "messages", "others")


def build_packet(reader: Reader, turn: Turn, trust: Trust) -> dict[str, Any]:
    """The packet of an open turn. Origins are named; what a person did not sign says so."""
    goal = _need(reader, Goal, turn.goal)
    todo = reader.get(Todo, turn.todo) if turn.todo else None
    place = reader.get(Place, turn.place) if turn.place else None
    packet: dict[str, Any] = {
        "schema": "loopx.packet/1",
        "turn": turn.id,
        "purpose": turn.purpose,
        "goal": _goal(reader, goal),
        "criteria": _criteria(reader, goal),
        "boundaries": _boundaries(goal, place, turn),
        "todo": _todo(reader, goal, todo) if todo else None,
        "decisions": _decisions(reader, turn, trust),
        "messages": _messages(reader, turn),
        "evidence": _evidence(reader, goal, todo),
        "left_behind": _left_behind(reader, turn, place, todo),
        "others": _others(reader, goal, todo),
        "ends_with": (
            "turn finish (outcome done, progress, blocked or failed; name a successor or why none is needed). "
            "The engine runs the check and commits; you never commit. A refused claim can be mended in this turn."
        ),
    }
    return _fit(packet)


def message_ids(reader: Reader, turn: Turn) -> list[str]:
    """The messages a packet of this turn hands over."""
    return [m.id for m in reader.records(Message, "message.to_consume", goal=turn.goal, actor=turn.actor, limit=10)]


def cut(text: str, most: int = PACKET_TEXT_BYTES) -> str:
    """At most `most` bytes of a text, cut at a character, with a mark."""
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= most else encoded[: most - 4].decode("utf-8", "ignore") + "…"


def _need(reader: Reader, cls: Any, identifier: str) -> Any:
    found = reader.get(cls, identifier)
    if found is None:
        from loopx_engine.errors import NotFound

        raise NotFound(f"there is no {cls.KIND} {identifier}", next=f"loopx list {cls.KIND}")
    return found


def _goal(reader: Reader, goal: Goal) -> dict[str, Any]:
    return {
        "id": goal.id,
        "title": goal.title,
        "objective": goal.objective,
        "revision": goal.revision,
        "origin": "person" if goal.plan else "person, unverified",
    }


def _criteria(reader: Reader, goal: Goal) -> list[dict[str, Any]]:
    return [
        {"number": item.number, "text": item.text, "state": item.state, "check": _argv(reader, item.check)}
        for item in reader.records(Criterion, "criterion.of_goal", goal=goal.id)
    ]


def _boundaries(goal: Goal, place: Place | None, turn: Turn) -> dict[str, Any]:
    return {
        "autonomy": goal.autonomy,
        "network": goal.network,
        "place": place.path if place else "",
        "branch": place.branch if place else "",
        "deadline": turn.deadline,
        "outside": "merge, push, publish, production, secrets and spending need a decision: ask with the effect",
    }


def _todo(reader: Reader, goal: Goal, todo: Todo) -> dict[str, Any]:
    return {
        "id": todo.id,
        "title": todo.title,
        "body": cut(todo.body),
        "serves": list(todo.serves),
        "scopes": list(todo.scopes),
        "check": _argv(reader, todo.check or goal.check),
        "review": todo.review,
        "failures": todo.failures,
        "origin": "person" if todo.signed else "unverified",
    }


def _decisions(reader: Reader, turn: Turn, trust: Trust) -> list[dict[str, Any]]:
    snapshot = load_snapshot(reader, turn.goal, turn.actor, trusted=trust)
    found = [item for item in snapshot.decisions if item.state == "open"]
    answered = [
        item
        for item in reader.records(Decision, "decision.of_goal", goal=turn.goal, limit=20)
        if item.answer and trust(item) and (item.asked_by == turn.actor or turn.todo in item.blocks)
    ]
    shown = [{"id": item.id, "question": cut(item.question, 300), "state": "open"} for item in found[:8]]
    for item in answered[:5]:
        text = dict(item.options).get(item.answer, item.answer)
        shown.append(
            {
                "id": item.id,
                "question": cut(item.question, 300),
                "state": item.state,
                "answer": text,
                "words": cut(item.answer_text or item.reason, 500),
            }
        )
    return shown


def _messages(reader: Reader, turn: Turn) -> list[dict[str, Any]]:
    found = reader.records(Message, "message.to_consume", goal=turn.goal, actor=turn.actor, limit=10)
    return [
        {"id": m.id, "origin": m.origin, "correction": m.correction, "at": m.created_at, "text": cut(m.text, 1000)}
        for m in found
    ]


def _evidence(reader: Reader, goal: Goal, todo: Todo | None) -> list[dict[str, Any]]:
    own = reader.records(Evidence, "evidence.of_todo", todo=todo.id, limit=3) if todo else []
    last = reader.records(Evidence, "evidence.last_passed", goal=goal.id, limit=2)
    found = {item.id: item for item in [*own, *last]}
    return [
        {
            "id": e.id,
            "kind": e.kind,
            "outcome": e.outcome,
            "ref": cut(e.ref, 200),
            "tail": cut(e.tail, 700),
            "state": e.state,
        }
        for e in found.values()
    ]


def _left_behind(reader: Reader, turn: Turn, place: Place | None, todo: Todo | None) -> dict[str, Any] | None:
    if not turn.todo:
        return None
    last = reader.records(Turn, "turn.last_of_todo", todo=turn.todo)
    if not last:
        return None
    before = last[0]
    handoffs = [item for item in reader.records(Handoff, "handoff.offered", goal=turn.goal) if item.todo == turn.todo]
    return {
        "turn": before.id,
        "result": before.result if before.state == "settled" else "lost",
        "reason": cut(before.reason, 500),
        "summary": cut(before.summary, 700),
        "saved_as": todo.wip if todo else "",
        "uncommitted": bool(place and place.holds == turn.todo),
        "handoff": cut(handoffs[0].note, 700) if handoffs else "",
    }


def _others(reader: Reader, goal: Goal, todo: Todo | None) -> dict[str, Any]:
    states = ("open", "waiting", "proving", "done", "dropped")
    following = reader.records(Todo, "todo.unfinished", goal=goal.id, limit=6)
    return {
        "counts": {state: reader.counter(goal.id, f"todo.{state}") for state in states},
        "next": [{"id": t.id, "title": cut(t.title, 120)} for t in following if todo is None or t.id != todo.id][:5],
    }


def _argv(reader: Reader, check: str | None) -> list[str]:
    found = reader.get(Check, check) if check else None
    return list(found.argv) if found else []


def _fit(packet: dict[str, Any]) -> dict[str, Any]:
    packet["dropped"] = []
    for name in HISTORY:
        if _size(packet) <= PACKET_BYTES - SPARE_BYTES:
            break
        if packet[name]:
            packet[name] = type(packet[name])()
            packet["dropped"].append(name)
    _shorten(packet)
    packet["digest"] = digest(packet)
    return packet


def _shorten(packet: dict[str, Any]) -> None:
    limit = 1000
    while _size(packet) > PACKET_BYTES - SPARE_BYTES and limit >= 60:
        if packet["todo"]:
            packet["todo"]["body"] = cut(packet["todo"]["body"], limit)
        for item in (*packet["criteria"], *packet["decisions"]):
            for key in ("text", "question", "words", "answer"):
                if key in item:
                    item[key] = cut(item[key], limit)
            if "check" in item:
                item["check"] = [cut(word, limit) for word in item["check"]][:40]
        packet["goal"]["objective"] = cut(packet["goal"]["objective"], max(limit, 300))
        limit = limit * 2 // 3


def _size(packet: dict[str, Any]) -> int:
    return len(canonical(packet))
