"""How a question becomes a decision: covered by a grant, equal to an open one, or a new row bound to what is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from loopx_engine.canonical import digest
from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.effect import intend_granted
from loopx_engine.commands.permission import rule_effect
from loopx_engine.commands.verbs import verb_of
from loopx_engine.model.decision import Decision, DecisionKind, Risk
from loopx_engine.model.defaults import DECISION_EXPIRES_MS
from loopx_engine.model.goal import Goal
from loopx_engine.model.record import noun
from loopx_engine.rules.risk import raise_only


@noun
class Question:
    """What is asked, before it has an id. `effect` is a resolved act: `action` and its parameters."""

    kind: DecisionKind
    text: str
    why: str = ""
    options: tuple[tuple[str, str], ...] = ()
    blocks: tuple[str, ...] = ()
    risk: Risk | Literal[""] = ""
    effect: dict[str, object] | None = None
    commands: tuple[dict[str, object], ...] = ()
    ref: str = ""
    cause: str = ""
    asked_by: str = ""
    turn: str | None = None


def ask(draft: Draft, context: Context, goal: Goal, question: Question) -> dict[str, Any]:
    """Opens a decision, joins an equal open one, or says at once what a grant or denial already decided."""
    rule, risk = "", _risk(question)
    if question.effect is not None:
        ruling = rule_effect(draft, context, goal, question.effect)
        if ruling.effect == "allow":
            effect = intend_granted(draft, context, goal, question.effect, ruling.rule)
            return {"decision": None, "answer": "yes", "effect": effect.id, "grant": ruling.rule}
        if ruling.effect == "deny":
            return {"decision": None, "answer": "no", "rule": ruling.rule}
        rule, risk = ruling.rule, raise_only(ruling.risk, risk)
    basis = digest(
        shown(goal.id, question.kind, question.text, question.options, question.effect, question.commands, rule)
    )
    for known in draft.records(Decision, "decision.open", goal=goal.id):
        same_cause = bool(question.cause) and known.cause == question.cause
        if same_cause or (known.basis == basis and known.question == question.text):
            joined = tuple(dict.fromkeys((*known.blocks, *question.blocks)))
            draft.put(replace(known, blocks=joined, ask_ref=question.ref or known.ask_ref))
            return {"decision": known.id, "basis": known.basis, "joined": True}
    made = draft.create(
        Decision(
            id=draft.new_id("decision"),
            goal=goal.id,
            kind=question.kind,
            question=question.text,
            why=question.why,
            options=question.options,
            effect=question.effect,
            commands=question.commands,
            basis=basis,
            risk=risk,
            rule=rule,
            blocks=question.blocks,
            asked_by=question.asked_by or context.who.actor,
            turn=question.turn or context.who.turn,
            ask_ref=question.ref,
            cause=question.cause,
            created_at=context.now,
            expires=context.now + DECISION_EXPIRES_MS,
        )
    )
    return {"decision": made.id, "basis": basis, "risk": risk}


def shown(
    goal: str,
    kind: str,
    question: str,
    options: tuple[tuple[str, str], ...],
    effect: dict[str, object] | None,
    commands: tuple[dict[str, object], ...],
    rule: str,
) -> dict[str, Any]:
    """What an answer binds to: the goal, the action with its parameters and subjects, the commands, the options, the rule."""
    return {
        "goal": goal,
        "kind": kind,
        "question": question,
        "options": [list(pair) for pair in options],
        "effect": effect,
        "commands": list(commands),
        "rule": rule,
    }


def shown_by(decision: Decision) -> dict[str, Any]:
    """What a decision that stands in the ledger shows now; its digest must still be its basis."""
    return shown(
        decision.goal,
        decision.kind,
        decision.question,
        decision.options,
        decision.effect,
        decision.commands,
        decision.rule,
    )


def _risk(question: Question) -> Risk:
    risk: Risk = "low"
    for item in question.commands:
        risk = raise_only(risk, verb_of(str(item.get("verb"))).risk)
    return raise_only(risk, question.risk) if question.risk else risk
