"""Effect: an act of the engine outside the ledger, as a row before it is tried and until its outcome is known."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from loopx_engine.canonical import digest
from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import command, hidden
from loopx_engine.errors import Refused, UsageError
from loopx_engine.model.decision import Decision
from loopx_engine.model.effect import EFFECT_KINDS, Effect
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.limits import BODY_BYTES
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo
from loopx_engine.rules.patterns import matches
from loopx_engine.rules.permission import Action

PERMISSION_OF = {
    "push": "push",
    "merge": "merge",
    "command": "exec",
    "write": "write",
    "post": "publish",
    "commit": "commit",
}


@command
class EffectAttempt:
    """The act is about to be tried: from here on its outcome may be unknown."""

    effect: str = hidden("the effect", id="effect")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        effect = draft.need(Effect, self.effect)
        if effect.state == "attempted":
            raise Refused(f"{effect.id} was already tried", code="effect_attempted", next=f"loopx show {effect.id}")
        void = why_void(draft, context, effect)
        if void is not None:
            raise Refused(f"{effect.id} is void: {void}", code="effect_void", next=f"loopx show {effect.id}")
        draft.put(replace(effect, state="attempted", attempted_at=context.now))
        return {"effect": effect.id}


@command
class EffectSettle:
    """What came of an act: done, failed, or uncertain (then it is read back or asked, never repeated blindly)."""

    effect: str = hidden("the effect", id="effect")
    state: str = hidden("its outcome", choices=("done", "failed", "uncertain"))
    detail: str = hidden("in a sentence", default="", most=BODY_BYTES, unit="bytes")
    value: str = hidden("what it made, such as a commit", default="", most=500)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        effect = draft.need(Effect, self.effect)
        if effect.state in ("done", "failed"):
            raise Refused(
                f"{effect.id} is {effect.state} already", code="effect_settled", next=f"loopx show {effect.id}"
            )
        ended = context.now if self.state != "uncertain" else None
        draft.put(replace(effect, state=self.state, detail=self.detail, value=self.value, ended_at=ended))
        if effect.decision and self.state != "uncertain":
            decision = draft.get(Decision, effect.decision)
            if decision is not None and decision.state == "answered":
                state = "carried out" if context.trusted(decision) else "void"
                draft.put(replace(decision, state=state, outcome=f"{self.state}: {self.detail}".strip(": ")))
        if effect.action == "commit" and self.state == "done":
            _committed(draft, context, effect, self.value)
        return {"effect": effect.id, "state": self.state, "value": self.value}


def why_void(draft: Draft, context: Context, effect: Effect) -> str | None:
    """None where a person's word that verifies now allows exactly this act, else the reason it may not be tried.

    The engine's own commit needs no word. A row that nobody's signed answer or grant stands behind is worth nothing.
    """
    if effect.action == "commit" and effect.todo:
        return None
    decision = draft.get(Decision, effect.decision) if effect.decision else None
    if decision is not None:
        if decision.answer in ("", "no") or not context.trusted(decision):
            return f"{decision.id} carries no answer that verifies"
        same = digest(decision.effect) == digest(effect.params)
        return None if same else f"{decision.id} is about something else"
    grant = draft.get(Grant, effect.grant) if effect.grant else None
    if grant is None or grant.effect != "allow" or not context.trusted(grant):
        return "no answer and no grant that verifies stands behind it"
    action = action_of(effect.params)
    covered = grant.kind == action.kind and grant.goal in (None, effect.goal) and matches(grant.pattern, action.text)
    return None if covered else f"{grant.id} does not cover it"


def action_of(effect: dict[str, object]) -> Action:
    """The canonical action of an act: what patterns of grants are matched against. Raises `UsageError` (`bad_effect`)."""
    kind = str(effect.get("action", ""))
    if kind not in EFFECT_KINDS:
        raise UsageError(f"'{kind[:40]}' is no act; expected one of {', '.join(EFFECT_KINDS)}", code="bad_effect")
    argv: tuple[str, ...] | None = None
    if kind == "push":
        text = f"{effect.get('remote', '')}/{effect.get('ref', '')}"
    elif kind == "merge":
        text = str(effect.get("into", ""))
    elif kind == "command":
        given = effect.get("argv")
        argv = tuple(str(item) for item in given) if isinstance(given, list | tuple) else ()
        text = shlex.join(argv)
    else:
        text = str(effect.get("path", effect.get("to", "")))
    if not text.strip("/ "):
        raise UsageError(f"a {kind} names what it acts on", code="bad_effect")
    return Action(kind=PERMISSION_OF[kind], text=text, argv=argv)  # type: ignore[arg-type]


def intend(draft: Draft, context: Context, decision: Decision) -> Effect:
    """The intent an answered decision leaves."""
    effect = dict(decision.effect or {})
    return _intent(draft, context, decision.goal, effect, decision=decision.id, turn=decision.turn)


def intend_granted(draft: Draft, context: Context, goal: Goal, effect: dict[str, object], grant: str) -> Effect:
    """The intent of an act that a grant covers; the receipt names the grant."""
    draft.cite(grant)
    return _intent(draft, context, goal.id, effect, grant=grant, turn=context.who.turn)


def intend_commit(draft: Draft, context: Context, todo: Todo, place: Place, tree: str, turn: str) -> Effect:
    """The intent to commit the tree that was proved."""
    params: dict[str, object] = {"action": "commit", "place": place.id, "branch": place.branch, "tree": tree}
    return _intent(draft, context, todo.goal, params, todo=todo.id, turn=turn)


def _intent(
    draft: Draft,
    context: Context,
    goal: str,
    params: dict[str, object],
    *,
    decision: str | None = None,
    grant: str | None = None,
    todo: str | None = None,
    turn: str | None = None,
) -> Effect:
    identifier = draft.new_id("effect")
    return draft.create(
        Effect(
            id=identifier,
            goal=goal,
            todo=todo,
            turn=turn,
            decision=decision,
            grant=grant,
            action=str(params["action"]),
            params=params,
            digest=digest(params),
            key=identifier,
            created_at=context.now,
        )
    )


def _committed(draft: Draft, context: Context, effect: Effect, commit: str) -> None:
    if effect.todo:
        todo = draft.need(Todo, effect.todo)
        draft.put(replace(todo, commit=commit))
        draft.create(
            Evidence(
                id=draft.new_id("evidence"),
                goal=effect.goal,
                todo=todo.id,
                turn=effect.turn,
                kind="commit",
                ref=commit,
                tree=str(effect.params.get("tree", "")),
                made_by=context.who.actor,
                at=context.now,
            )
        )
    place = draft.get(Place, str(effect.params.get("place", "")))
    if place is not None:
        draft.put(replace(place, head=commit))
