"""Which nouns can be read by name, and by which statement their list is made."""

from __future__ import annotations

from typing import Any

from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.effect import Effect
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.handoff import Handoff
from loopx_engine.model.lease import Lease
from loopx_engine.model.limit import Limit
from loopx_engine.model.message import Message
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.model.session import Session
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.model.watch import Watch

CLASSES: dict[str, Any] = {
    cls.KIND: cls
    for cls in (
        Actor, Check, Criterion, Decision, Effect, Evidence, Goal, Grant, Handoff, Lease, Limit, Message, Place, Project,
        Session, Todo, Turn, Watch,
    )
}  # fmt: skip
LISTS: dict[str, tuple[str, bool]] = {
    "goal": ("goal.all", False), "todo": ("todo.of_goal", True), "decision": ("decision.of_goal", True),
    "turn": ("turn.of_goal", True), "evidence": ("evidence.of_goal", True), "effect": ("effect.of_goal", True),
    "message": ("message.of_goal", True), "criterion": ("criterion.of_goal", True), "actor": ("actor.all", False),
    "project": ("project.all", False), "place": ("place.all", False), "grant": ("grant.all_live", False),
    "check": ("check.of_goal", True), "handoff": ("handoff.offered", True), "lease": ("lease.held", True),
    "limit": ("limit.waiting", False), "watch": ("watch.of_goal", True),
}  # fmt: skip
WHOLE = frozenset(
    {"criterion.of_goal", "check.of_goal", "handoff.offered", "lease.held", "limit.waiting", "watch.of_goal"}
)
