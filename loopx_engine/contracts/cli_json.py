"""What every command says with `--json`: one shape a command name, made of the rows of the nouns (JOURNEYS.md 2).

`loopx goal add` says `loopx.goal.add/1`, `loopx next` says `loopx.next/1`; every `--dry-run` says `loopx.preview/1`, every
error `loopx.error/1`. Lists stand under `items`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from pydantic import Field

from loopx_engine.contracts.rows import Shown, maybe, object_of, row
from loopx_engine.errors import NotFound
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision, Risk
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.finding import Choice, Finding
from loopx_engine.model.lease import Lease
from loopx_engine.model.place import Place
from loopx_engine.model.receipt import Change
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.rules.verdict import Verdict

JsonObject = dict[str, Any]
GOAL = {"goal": str}
PHASE = {"goal": str, "phase": str}
TODO = {"todo": str}
ENDED = {"turn": str, "todo": str | None, "state": str, "result": str}
ASKED: dict[str, Any] = {
    "decision": str | None, "basis": maybe(str), "risk": maybe(Risk), "joined": maybe(bool), "answer": maybe(str),
    "effect": maybe(str), "grant": maybe(str), "rule": maybe(str),
}  # fmt: skip
BEGUN = {"turn": str, "goal": str, "todo": str | None, "purpose": str, "epoch": int}

ANSWERS: dict[str, dict[str, Any]] = {
    "actor add": {"actor": str, "name": str, "token": maybe(str)},
    "actor retire": {"actor": str},
    "project add": {"project": str, "root": str},
    "project setup": {"project": str, "steps": int, "places": list[str]},
    "goal add": {"goal": str, "title": str, "project": str},
    "goal edit": {"goal": str, "revision": int},
    "goal pause": PHASE,
    "goal resume": {**PHASE, "plan": str, "accepted_todos": int},
    "goal close": {**PHASE, "criteria": list[str]},
    "goal reopen": PHASE,
    "goal archive": PHASE,
    "criterion add": {"criterion": str, "number": int},
    "criterion waive": {"criterion": str, "state": str},
    "criterion meet": {"criterion": str, "state": str},
    "check set": {"check": str},
    "todo add": {"todo": str, "title": str},
    "todo edit": TODO,
    "todo order": TODO,
    "todo split": {**TODO, "parts": list[str]},
    "todo drop": TODO,
    "todo reopen": TODO,
    "turn extend": {"turn": str, "deadline": int},
    "turn abandon": ENDED,
    "decision ask": ASKED,
    "decision propose": ASKED,
    "decision withdraw": {"decision": str, "state": str, "still_blocks": list[str]},
    "decision snooze": {"decision": str, "until": int},
    "decision answer": {
        "decision": str, "answer": str, "effect": maybe(str), "grant": maybe(str), "carried_out": maybe(list[JsonObject]),
    },
    "grant add": {"grant": str, "expires": int, "uses": int},
    "grant revoke": {"grant": str, "state": str},
    "evidence add": {"evidence": str},
    "message send": {"message": str, "origin": str},
    "message consume": {"message": str, "state": str},
    "handoff offer": {"handoff": str, "todo": str | None},
    "handoff accept": {"handoff": str, **BEGUN, "token": maybe(str)},
    "handoff decline": {"handoff": str, "state": str},
    "lease release": ENDED,
    "lease take": ENDED,
    "place drop": {"place": str},
    "place retry": {"place": str, "state": str},
    "undo": {"undone": str, "put_back": list[str]},
}  # fmt: skip
RECEIPTS: dict[str, Any] = {"receipt": str, "receipts": list[str], "replayed": bool}


def _receipt() -> type[Shown]:
    return object_of(
        "ReceiptRow",
        {
            "id": str, "seq": int, "stream": str, "number": int, "at": int, "actor": str, "turn": str, "strength": str,
            "command": str, "verb": str, "intent": str, "grant": str, "undo": bool, "payload_digest": str, "previous": str,
            "hash": str, "unverified": bool, "arguments": JsonObject | None, "changes": list[row(Change)],  # type: ignore[misc]
            "answer": JsonObject | None,
        },
    )  # fmt: skip


def _finding() -> Any:
    return row(Finding, choices=list[row(Choice)], goal_title=str)  # type: ignore[misc]


def _inbox() -> dict[str, Any]:
    """A record that cannot be shown costs one row, which says why (`poisoned`)."""
    more = {"asked_by_name": str, "goal_title": str, "blocks_titles": list[str], "waiting": bool}
    answered = {
        "id": str, "goal": str, "goal_title": str, "question": str, "answer": str, "text": str, "reason": str,
        "answered_at": int, "by": str, "grant": str | None, "poisoned": maybe(str),
    }  # fmt: skip
    asked = row(Decision, **more) | object_of("Poisoned", {"id": str, "poisoned": str})
    return {
        "items": list[asked],  # type: ignore[valid-type]
        "findings": list[_finding()],  # type: ignore[misc]
        "answered": list[object_of("Answered", answered)],  # type: ignore[misc]
        "total": int,
    }


def _status() -> dict[str, Any]:
    quiet = {"goal": str, "title": str, "done": int, "todos": int}
    asked = {
        "id": str, "goal": str, "risk": Risk, "question": str, "asked_by": str, "age_ms": int, "answers": list[str],
    }  # fmt: skip
    turn = {
        "turn": str, "actor": str, "todo": str | None, "title_todo": str, "state": Literal["proving", "running"], "for_ms": int,
    }  # fmt: skip
    return {
        "now": int,
        "project": object_of("ProjectHere", {"id": str, "name": str, "root": str}) | None,
        "needs_you": list[object_of("Asked", asked)],  # type: ignore[misc]
        "needs_you_count": int,
        "running": list[object_of("Running", {**quiet, **turn})],  # type: ignore[misc]
        "active": list[object_of("Quiet", quiet)],  # type: ignore[misc]
        "active_count": int,
        "broken": list[_finding()],  # type: ignore[misc]
        "broken_count": int,
        "next_look": int | None,
        "counts": dict[str, int],
        "engine": bool,
    }


def _records() -> Any:
    """A row of any noun that can be listed or shown."""
    from loopx_engine.reading.classes import CLASSES

    kinds = [row(cls) for cls in CLASSES.values()]
    union: Any = kinds[0]
    for kind in [*kinds[1:], _receipt(), _finding()]:
        union = union | kind
    return union


def _related() -> Any:
    goal = {
        "criteria": list[row(Criterion)], "todos": list[row(Todo)], "decisions": list[row(Decision)],  # type: ignore[misc]
        "places": list[row(Place)], "todo_count": int,  # type: ignore[misc]
    }  # fmt: skip
    todo = {
        "check": row(Check) | None, "lease": row(Lease) | None, "evidence": list[row(Evidence)],  # type: ignore[misc]
        "turns": list[row(Turn)],  # type: ignore[misc]
    }  # fmt: skip
    signed = object_of("Signed", {"signature": str | None})
    return object_of("OfGoal", goal) | object_of("OfTodo", todo) | signed | object_of("Nothing", {})


def _reads() -> dict[str, dict[str, Any]]:
    names = {"names": dict[str, str]}
    return {
        "status": _status(),
        "next": {"goal": str, "actor": str, **_fields(Verdict)},
        "show": {"kind": str, "item": _records(), "related": _related(), **names},
        "list": {"kind": str, "items": list[_records()], **names},  # type: ignore[misc]
        "why": {
            "id": str, "reasons": list[str], "lease": row(Lease) | None, "receipts": list[_receipt()], **names,  # type: ignore[misc]
        },
        "history": {"id": str | None, "items": list[_receipt()], **names},  # type: ignore[misc]
        "search": {
            "text": str,
            "items": list[object_of("Found", {"kind": str, "id": str, "goal": str, "text": str})],  # type: ignore[misc]
        },
        "inbox": _inbox(),
        "findings": {"items": list[_finding()]},  # type: ignore[misc]
    }  # fmt: skip


def _fields(cls: Any) -> dict[str, Any]:
    return {name: item.annotation for name, item in row(cls).model_fields.items()}


def _others() -> dict[str, dict[str, Any]]:
    problem = object_of("Problem", {"where": str, "what": str})
    commit = object_of("Commit", {"commit": str, "subject": str, "trailers": dict[str, str]})
    baseline = {"goal": str, "check": str, "argv": list[str], "baseline": str, "tail": str}
    found = object_of("Found here", {"name": str, "ok": bool, "text": str, "next": str})
    key = {"key": str, "strength": str, "receipt": str}
    engine = {"pid": int, "sandbox": str, "receipts": int, "written": int}
    proposal = {"goal": str, "decision": str, "question": str, "why": str, "risk": Risk, "basis": str, "asked_by": str}
    return {
        "error": {"code": str, "message": str, "next": str, "details": maybe(JsonObject)},
        "preview": {
            "verb": str, "risk": Risk, "authority": list[str], "basis": str, "expires": int | None,
            "arguments": JsonObject, "acts": list[str], "changes": list[row(Change)],  # type: ignore[misc]
        },
        "owner.init": key,
        "owner.protect": {"sealed": bool},
        "owner.rotate": {"key": str, "receipt": str},
        "turn.begin": {**RECEIPTS, **BEGUN, "token": str | None, "packet": JsonObject},
        "turn.finish": {
            **RECEIPTS, "turn": str, "state": str, "result": str | None, "reason": str, "mends": int, "tail": str,
        },
        "plan.show": {**proposal, "items": list[JsonObject]},
        "project.setup.proposed": {"project": str | None, "root": str, "set": list[list[str]], "items": list[list[str]]},
        "project.check": {"project": str, "sandbox": str, "items": list[object_of("Baseline", baseline)]},  # type: ignore[misc]
        "stop": {
            "receipt": str, "receipts": list[str], "goals": list[str], "turns_ended": list[str], "processes_left": list[int],
            "still_proving": list[str],
            "claims_kept": list[str], "took_ms": int, "within_ms": int,
        },
        "verify": {"sound": bool, "receipts": int, "items": list[problem]},  # type: ignore[valid-type]
        "backup": {"file": str, "receipts": int},
        "restore": {"incarnation": int, "kept": str | None, "paused": list[str]},
        "doctor": {"sound": bool, "items": list[found], "limits": str},  # type: ignore[valid-type]
        "follow": {"turn": str, "state": str, "result": str | None, "items": list[str]},
        "diff": {"goal": str, "branch": str, "items": list[commit], "diff": str},  # type: ignore[valid-type]
        "place": _fields(Place),
        "engine.once": engine,
        "engine.run": engine,
    }  # fmt: skip


@cache
def shapes() -> dict[str, dict[str, Any]]:
    """Schema name without `loopx.` and `/1` -> the fields of the object."""
    verbs = {name.replace(" ", "."): {**RECEIPTS, **shape} for name, shape in ANSWERS.items()}
    return {**verbs, **_reads(), **_others()}


@cache
def model_of(name: str) -> type[Shown]:
    """The model of what a command says. Raises `NotFound` (`no_schema`)."""
    shape = shapes().get(name)
    if shape is None:
        raise NotFound(f"there is no schema '{name[:60]}'", code="no_schema", next="loopx --help")
    literal: Any = Literal[f"loopx.{name}/1"]
    first = {"said_as": (literal, Field(alias="schema"))}
    return object_of(f"loopx.{name}/1", {**first, **shape})
