"""What an answer sets off: a proposal's commands become the accepter's, and "from now on" becomes a grant."""

from __future__ import annotations

from typing import Any

from loopx_engine.commands.asking import shown_by
from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.effect import action_of
from loopx_engine.commands.fields import build
from loopx_engine.commands.verbs import authority_of, verb_of
from loopx_engine.errors import Refused, UsageError
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import GRANT_EXPIRES_MS, GRANT_USES
from loopx_engine.model.grant import Grant

NEVER_PROPOSED = frozenset({"decision answer", "grant add", "owner init", "owner rotate", "actor add", "undo"})


def carry_out_proposal(draft: Draft, context: Context, decision: Decision) -> list[dict[str, Any]]:
    """Runs the proposal's commands on the accepter's word, in this same transaction: all or none."""
    done: list[dict[str, Any]] = []
    for item in decision.commands:
        verb = verb_of(str(item.get("verb")))
        arguments = item.get("arguments")
        command = build(verb.load(), dict(arguments) if isinstance(arguments, dict) else {})
        authority = authority_of(verb, command)
        if verb.name in NEVER_PROPOSED or not {"person", "signed"} & set(authority):
            raise Refused(f"{verb.name} cannot be proposed", code="not_proposable", next=f"loopx show {decision.id}")
        done.append({"verb": verb.name, "answer": command.decide(draft, context)})
    return done


def remember(
    draft: Draft, context: Context, decision: Decision, option: str, scope: str, until: int, uses: int
) -> Grant:
    """The grant an answer leaves: an effect's kind and a pattern, an end and a number of uses."""
    if decision.effect is None:
        raise UsageError(
            "only an answer about an act can be remembered", code="bad_argument", next=f"loopx show {decision.id}"
        )
    action = action_of(decision.effect)
    return make_grant(
        draft,
        context,
        kind=action.kind,
        pattern=scope or action.text,
        effect="deny" if option == "no" else "allow",
        goal=decision.goal,
        until=until,
        uses=uses,
        decision=decision,
    )


def make_grant(
    draft: Draft,
    context: Context,
    *,
    kind: str,
    pattern: str,
    effect: str,
    goal: str | None,
    until: int,
    uses: int,
    decision: Decision | None = None,
) -> Grant:
    """A grant with an end and a number of uses, proved by the signed act of this command and, where it remembers an
    answer, by what was shown."""
    expires = until or context.now + GRANT_EXPIRES_MS
    if expires <= context.now or uses < 0:
        raise UsageError(
            "a grant ends in the future and has 1 or more uses", code="bad_argument", next="loopx grant add --help"
        )
    return draft.create(
        Grant(
            id=draft.new_id("grant"),
            kind=kind,  # type: ignore[arg-type]
            pattern=pattern,
            effect=effect,  # type: ignore[arg-type]
            goal=goal,
            expires=expires,
            uses=uses or GRANT_USES,
            decision=decision.id if decision else None,
            proof={**(context.proof or {}), "shown": shown_by(decision)} if decision else context.proof,
            created_by=context.who.actor,
            created_at=context.now,
        )
    )
