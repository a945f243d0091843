"""What an agent's program says in its turn, as commands under that turn; and what people answered, handed back to it."""

from __future__ import annotations

from typing import Any

from loopx_engine.errors import LoopxError
from loopx_engine.heartbeat.effects import carry_out_all, resolve_effect
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.host.files import BoundedFile
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.turn import Turn
from loopx_engine.runtimes.protocol import Ask, Event, Note, Produced, Result, RunningTurn, Text, Usage

READ_BACK_S = 15.0
LAST_LINE = 300


class TurnEvents:
    """`usage` is what the runtime said it used, `last_line` the last text it said; nothing here raises for what it says."""

    def __init__(self, heart: Heart, goal: Goal, turn: Turn, running: RunningTurn, transcript: BoundedFile) -> None:
        self.heart = heart
        self.goal = goal
        self.turn = turn
        self.running = running
        self.transcript = transcript
        self.usage: dict[str, int | None] = {"input": None, "output": None, "cost": None}
        self.last_line = ""
        self._asked: dict[str, str] = {}
        self._seen = -1
        self._again = 0.0
        self._waiting = False

    def handle(self, event: Event) -> None:
        """Carries out one event; an `Ended` is its driver's business."""
        if isinstance(event, Text):
            self.transcript.write(event.text + "\n")
            self.last_line = event.text.strip()[:LAST_LINE] or self.last_line
        elif isinstance(event, Note):
            self.transcript.write(f"[note] {event.text}\n")
        elif isinstance(event, Usage):
            self._count(event)
        elif isinstance(event, Ask):
            self.transcript.write(f"[ask] {event.question}\n")
            self._ask(event)
        elif isinstance(event, Produced):
            self._produced(event)
        elif isinstance(event, Result):
            self.transcript.write(f"[result] {event.outcome} {event.summary}\n")
            self._claim(event)

    def hand_over(self) -> bool:
        """Hands over what was answered since. True while a question that this turn asked is open: its clocks stand still."""
        seq, now = self.heart.engine.ledger.last_seq(), self.heart.clock.monotonic()
        if seq == self._seen and now < self._again:
            return self._waiting
        self._seen, self._again = seq, now + READ_BACK_S
        for name in list(self._asked):
            self._hand_over(name)
        with self.heart.engine.read() as reader:
            mine = reader.records(Decision, "decision.of_turn", turn=self.turn.id)
        self._waiting = bool(self._asked) or any(decision.state == "open" for decision in mine)
        return self._waiting

    def _hand_over(self, name: str) -> None:
        decision = self.heart.get(Decision, name)
        if decision.state == "answered":
            carry_out_all(self.heart, self.turn.goal)
            decision = self.heart.get(Decision, name)
        if decision.state in ("open", "answered"):
            return
        ref = self._asked.pop(name)
        with self.heart.engine.read() as reader:
            trusted = bool(decision.answer) and self.heart.engine.trust_of(reader)(decision)
        if decision.state == "carried out" and trusted:
            words = decision.answer_text or decision.reason or decision.outcome
            self.running.answer(ref, decision.answer, words)
        else:
            self.running.answer(ref, "no", decision.outcome or f"{decision.id} is {decision.state}")

    def _count(self, event: Usage) -> None:
        for name, value in (("input", event.input), ("output", event.output), ("cost", event.cost)):
            if value is not None:
                self.usage[name] = (self.usage[name] or 0) + value

    def _ask(self, event: Ask) -> None:
        turn = self.turn
        arguments: dict[str, Any] = {
            "goal": turn.goal,
            "question": event.question,
            "why": event.why,
            "option": list(event.options),
            "ref": event.ref,
            "blocks": [turn.todo] if event.blocks and turn.todo else [],
        }
        try:
            if event.effect is not None:
                arguments["effect"] = resolve_effect(self.heart, self.goal, event.effect)
            answer = self._run("decision ask", arguments)
            if answer.get("effect"):
                carry_out_all(self.heart, turn.goal)
        except LoopxError as error:
            self.running.answer(event.ref, "no", error.message)
            return
        if answer.get("decision"):
            self._asked[str(answer["decision"])] = event.ref
        else:
            words = str(answer.get("grant") or answer.get("rule") or "")
            self.running.answer(event.ref, str(answer.get("answer", "no")), words)

    def _produced(self, event: Produced) -> None:
        try:
            self._run("evidence add", {"turn": self.turn.id, "kind": event.kind, "ref": event.ref, "note": event.note})
        except LoopxError as error:
            self.heart.log("turn.refused", turn=self.turn.id, verb="evidence add", code=error.code)

    def _claim(self, event: Result) -> None:
        said = {"summary": event.summary, "successor": event.successor, "no_successor": event.no_successor}
        try:
            self._run("turn finish", {"turn": self.turn.id, "outcome": event.outcome, "result": event.result, **said})
        except LoopxError as error:
            self.running.refused(error.code, None, error.message)

    def _run(self, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
        who = self.heart.agent(self.turn.actor, self.turn.goal, self.turn.id)
        return self.heart.engine.run(verb, arguments, who).answer
