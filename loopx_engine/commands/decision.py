"""Decision: asking, proposing, withdrawing, answering. Only a signed answer of a person unblocks anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.answering import carry_out_proposal, remember
from loopx_engine.commands.asking import Question, ask
from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.effect import action_of, intend
from loopx_engine.commands.fields import argument, command, hidden
from loopx_engine.commands.fields import option as optional
from loopx_engine.errors import Refused, StateMoved, UsageError
from loopx_engine.model.decision import RISKS, Decision, Risk
from loopx_engine.model.defaults import DAY, DECISION_EXPIRES_MS
from loopx_engine.model.goal import Goal
from loopx_engine.model.limits import BODY_BYTES, COMMANDS_A_PROPOSAL, OPTIONS_A_DECISION, TITLE_CHARACTERS
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.rules.risk import raise_only, risk_of_grant
from loopx_engine.rules.roles import may_answer


@command
class DecisionAsk:
    """Opens a decision, or answers at once where the goal's permissions already say so."""

    goal: str = argument("the goal", id="goal")
    question: str = argument("the question", most=BODY_BYTES, unit="bytes")
    option: tuple[str, ...] = optional(
        "one possible answer", default=(), most=TITLE_CHARACTERS, items=OPTIONS_A_DECISION
    )
    why: str = optional("what the answer is needed for", most=BODY_BYTES, unit="bytes")
    blocks: tuple[str, ...] = optional("a todo that must wait for the answer", default=(), id="todo")
    risk: str = optional("raise the risk", choices=RISKS)
    effect: dict[str, object] | None = hidden("the act outside it asks for, resolved by the rim", default=None)
    ref: str = hidden("the asker's own id for it", default="", most=200)
    cause: str = hidden("the frontier an engine's question came from", default="", most=200)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        _check_asker(draft, context, goal, self.blocks, self.cause)
        return ask(
            draft,
            context,
            goal,
            Question(
                kind="effect" if self.effect else "choice",
                text=self.question,
                why=self.why,
                options=tuple((str(number), text) for number, text in enumerate(self.option, 1)),
                blocks=self.blocks,
                risk=self.risk,  # type: ignore[arg-type]
                effect=self.effect,
                ref=self.ref,
                cause=self.cause,
            ),
        )


@command
class DecisionPropose:
    """Prepares ledger commands for a person to accept: then they are that person's own."""

    goal: str = argument("the goal", id="goal")
    question: str = argument("what is proposed", most=BODY_BYTES, unit="bytes")
    commands: tuple[dict[str, object], ...] = hidden("the commands", items=COMMANDS_A_PROPOSAL)
    why: str = optional("the reason", most=BODY_BYTES, unit="bytes")
    blocks: tuple[str, ...] = optional("a todo that must wait for the answer", default=(), id="todo")
    cause: str = hidden("the frontier an engine's question came from", default="", most=200)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        _check_asker(draft, context, goal, self.blocks, self.cause)
        question = Question(
            kind="proposal",
            text=self.question,
            why=self.why,
            blocks=self.blocks,
            commands=self.commands,
            cause=self.cause,
        )
        return ask(draft, context, goal, question)


@command
class DecisionWithdraw:
    """Takes a question back. It does not unblock what it stood in the way of."""

    decision: str = argument("the decision", id="decision")
    reason: str = optional("why", most=BODY_BYTES, unit="bytes")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        decision = draft.need(Decision, self.decision)
        if context.who.kind == "agent" and (
            decision.asked_by != context.who.actor or decision.kind not in ("choice", "proposal")
        ):
            raise Refused(
                "an agent takes back only its own choices and proposals",
                code="not_yours",
                next=f"loopx show {decision.id}",
            )
        draft.put(replace(decision, state="withdrawn", reason=self.reason))
        return {"decision": decision.id, "state": "withdrawn", "still_blocks": list(decision.blocks)}


@command
class DecisionSnooze:
    """Asks again later; the decision stays open and keeps blocking."""

    decision: str = argument("the decision", id="decision")
    hours: int = optional("for how long", default=4)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        decision = draft.need(Decision, self.decision)
        if not 0 < self.hours <= 24 * 30:
            raise UsageError(
                "a decision is snoozed for 1 to 720 hours", code="bad_argument", next="loopx decision snooze --help"
            )
        if decision.state != "open":
            raise Refused(f"{decision.id} is {decision.state}", code="not_open", next=f"loopx show {decision.id}")
        until = context.now + self.hours * DAY // 24
        draft.put(replace(decision, snoozed_until=until, expires=max(decision.expires, until + DAY)))
        return {"decision": decision.id, "until": until}


@command
class DecisionAnswer:
    """A person's signed answer, bound to the digest of exactly what was shown."""

    decision: str = argument("the decision", id="decision")
    option: str = argument("yes, no, or an option's id")
    reason: str = optional("why", most=BODY_BYTES, unit="bytes")
    text: str = optional("an answer in words", most=BODY_BYTES, unit="bytes")
    goal: str = optional("the goal's id, typed: needed for a high risk", id="goal")
    basis: str = optional("the digest of what was shown", most=64)
    remember: bool = optional("and from now on", default=False)
    scope: str = optional("the pattern that is remembered", most=1000)
    until: int = optional("when that ends, UTC milliseconds (24 hours)", default=0)
    uses: int = optional("how often it may be used (20)", default=0)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        decision = draft.need(Decision, self.decision)
        self._check(decision, context)
        positive = self.option != "no"
        answered = draft.put(
            replace(
                decision,
                state="answered",
                answer=self.option,
                answer_text=self.text,
                reason=self.reason,
                proof=context.proof,
                answered_at=context.now,
            )
        )
        answer: dict[str, Any] = {"decision": decision.id, "answer": self.option}
        if positive and decision.kind == "effect":
            answer["effect"] = intend(draft, context, answered).id
        elif positive and decision.kind == "proposal":
            answer["carried_out"] = carry_out_proposal(draft, context, decision)
            draft.put(replace(answered, state="carried out", outcome="accepted"))
        else:
            draft.put(replace(answered, state="carried out", outcome="answered" if positive else "refused"))
        if self.remember:
            answer["grant"] = remember(draft, context, decision, self.option, self.scope, self.until, self.uses).id
        return answer

    def _check(self, decision: Decision, context: Context) -> None:
        if decision.state != "open":
            raise Refused(
                f"{decision.id} is {decision.state}: it takes no answer",
                code="not_open",
                next=f"loopx show {decision.id}",
            )
        if decision.expires <= context.now:
            raise Refused(f"{decision.id} has expired", code="expired", next="loopx inbox")
        if self.basis != decision.basis:
            raise StateMoved(
                f"{decision.id} is not what was shown; look at it again",
                next=f"loopx show {decision.id}",
                details={"basis": decision.basis},
            )
        ids = [name for name, _ in decision.options]
        allowed = [*ids, "no"] if ids else ["yes", "no"]
        if self.option not in allowed:
            raise UsageError(
                f"'{self.option}' is no answer to {decision.id}; expected {', '.join(allowed)}",
                code="bad_choice",
                next=f"loopx show {decision.id}",
            )
        risk = self._risk(decision)
        if not may_answer(context.who.role or "observer", risk, channel=context.who.kind == "channel"):
            raise Refused(
                f"this answer to {decision.id} is of {risk} risk: this role may not give it",
                code="role",
                next="loopx list actor",
            )
        if risk == "high" and (self.goal != decision.goal or not self.reason.strip()):
            raise Refused(
                f"this answer to {decision.id} is of high risk: type the goal's id ({decision.goal}) and a reason",
                code="high_risk",
                next=f"loopx answer {decision.id} {self.option} --goal {decision.goal} --reason TEXT --basis DIGEST",
            )

    def _risk(self, decision: Decision) -> Risk:
        """An answer that is remembered has the risk of the gravest act its scope covers, if that is more."""
        if not self.remember or self.option == "no" or decision.effect is None:
            return decision.risk
        action = action_of(decision.effect)
        named = decision.effect.get("protected")
        protected = tuple(map(str, named)) if isinstance(named, list | tuple) else ()
        return raise_only(decision.risk, risk_of_grant(action.kind, self.scope or action.text, protected))


@command
class DecisionExpire:
    """An unanswered question ran out. One that is still in the way is asked anew, and says how often."""

    decision: str = hidden("the decision", id="decision")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        decision = draft.need(Decision, self.decision)
        if decision.state not in ("open", "withdrawn", "expired") or decision.outcome:
            raise Refused(f"{decision.id} is {decision.state}", code="not_open", next=f"loopx show {decision.id}")
        if decision.state == "open" and decision.expires > context.now:
            raise Refused(f"{decision.id} has not expired yet", code="not_expired", next=f"loopx show {decision.id}")
        if decision.state == "open":
            decision = draft.put(replace(decision, state="expired"))
        wanted = [
            name
            for name in decision.blocks
            if (todo := draft.get(Todo, name)) and todo.state not in ("done", "dropped")
        ]
        if not wanted:
            draft.put(replace(decision, outcome="no longer wanted"))
            return {"decision": decision.id, "asked_anew": None}
        again = draft.create(
            replace(
                decision,
                id=draft.new_id("decision"),
                state="open",
                blocks=tuple(wanted),
                asked=decision.asked + 1,
                reason="",
                created_at=context.now,
                expires=context.now + DECISION_EXPIRES_MS,
                snoozed_until=None,
            )
        )
        draft.put(replace(decision, outcome=f"asked anew as {again.id}"))
        return {"decision": decision.id, "asked_anew": again.id}


@command
class DecisionSettle:
    """An answer was carried out, or is void because what it was about is no longer what was shown."""

    decision: str = hidden("the decision", id="decision")
    state: str = hidden("what became of it", choices=("carried out", "void"))
    outcome: str = hidden("in a sentence", most=BODY_BYTES, unit="bytes")
    effect: dict[str, object] | None = hidden("what it would have to be about now", default=None)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        decision = draft.need(Decision, self.decision)
        draft.put(replace(decision, state=self.state, outcome=self.outcome))
        if self.state == "void" and self.effect is not None:
            again = ask(
                draft,
                context,
                draft.need(Goal, decision.goal),
                Question(
                    kind=decision.kind,
                    text=decision.question,
                    why=f"{self.outcome}. {decision.why}".strip(),
                    blocks=decision.blocks,
                    risk=decision.risk,
                    effect=self.effect,
                    ref=decision.ask_ref,
                    asked_by=decision.asked_by,
                    turn=decision.turn,
                ),
            )
            return {"decision": decision.id, "state": "void", "asked_anew": again.get("decision")}
        return {"decision": decision.id, "state": self.state}


def _check_asker(draft: Draft, context: Context, goal: Goal, blocks: tuple[str, ...], cause: str) -> None:
    """A question blocks todos of its goal; an agent's only its own. Only the engine asks for a cause."""
    if cause and context.who.kind != "engine":
        raise UsageError("only the engine names a cause", code="bad_argument", next="loopx decision ask --help")
    for name in blocks:
        if draft.need(Todo, name).goal != goal.id:
            raise UsageError(f"{name} belongs to another goal", code="other_goal", next=f"loopx show {name}")
    if context.who.kind != "agent":
        return
    turn = draft.need(Turn, context.who.turn or "")
    if any(name != turn.todo for name in blocks):
        raise Refused("an agent may block only its own todo", code="not_your_todo", next="loopx decision ask --help")
