"""Undo: what a receipt changed is put back as a new change, if nothing else has changed it since."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, hidden
from loopx_engine.commands.todo import not_in_progress
from loopx_engine.errors import Refused, StateMoved
from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.model.record import from_values, values
from loopx_engine.model.states import MACHINES
from loopx_engine.model.todo import Todo

CLASSES: dict[str, Any] = {
    cls.KIND: cls for cls in (Actor, Check, Criterion, Decision, Evidence, Goal, Grant, Place, Project, Todo)
}
PUT_AWAY = {
    "todo": "dropped", "goal": "archived", "criterion": "waived", "grant": "revoked", "decision": "withdrawn",
    "actor": "retired", "check": "replaced",
}  # fmt: skip


@command
class Undo:
    """Takes back one receipt: changed fields get their old values, what was made is put away (never deleted)."""

    receipt: str = argument("the receipt", id="receipt")
    verb: str = hidden("its verb", default="")
    changes: tuple[dict[str, object], ...] = hidden("its changes, loaded by the engine", default=(), items=100_000)

    def needs_signature(self) -> bool:
        from loopx_engine.commands.verbs import VERBS

        verb = VERBS.get(self.verb)
        return verb is None or "signed" in verb.authority or verb.name in ("goal add", "goal edit", "todo add")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        put_back: list[str] = []
        for change in self.changes:
            kind, identifier = str(change["kind"]), str(change["id"])
            if kind == "wake":
                continue
            record = draft.get(CLASSES[kind], identifier) if kind in CLASSES else None
            if record is None:
                raise Refused(
                    f"{self.receipt} cannot be taken back", code="no_undo", next=f"loopx history {identifier}"
                )
            if isinstance(record, Todo) and change["before"] is None:
                not_in_progress(draft, record, context.now)
            draft.put(_before(kind, identifier, values(record), change))
            put_back.append(identifier)
        return {"receipt": self.receipt, "put_back": put_back}


def _before(kind: str, identifier: str, row: dict[str, Any], change: dict[str, object]) -> Any:
    before, after = change["before"], change["after"]
    if not isinstance(after, dict):
        raise Refused("what was removed cannot be put back", code="no_undo", next=f"loopx history {identifier}")
    moved = [name for name, value in after.items() if row[name] != value and name != "revision"]
    if moved:
        raise StateMoved(
            f"{identifier} has changed since ({', '.join(moved[:3])})",
            code="changed_since",
            next=f"loopx history {identifier}",
        )
    if not isinstance(before, dict):
        record = from_values(CLASSES[kind], row)
        return replace(record, **{MACHINES[kind][0]: PUT_AWAY[kind]}) if kind in PUT_AWAY else record
    return from_values(CLASSES[kind], {**row, **_reachable(kind, row, before)})


def _reachable(kind: str, row: dict[str, Any], before: dict[str, object]) -> dict[str, object]:
    """What is put back: a revision only grows, stale evidence stays stale, and a criterion is met by proof alone."""
    back = dict(before)
    if "revision" in back:
        back["revision"] = row["revision"] + 1
    if kind == "evidence":
        back = {name: row[name] for name in back}
    if kind == "criterion" and row["state"] == "waived":
        back["state"] = "open"
    return back
