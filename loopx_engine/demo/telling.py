"""The story in sentences, made from receipts as they are written: nothing is said that no receipt says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loopx_engine.engine import Engine
from loopx_engine.host.sanitiser import visible
from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.decision import Decision
from loopx_engine.model.effect import Effect
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.receipt import Receipt
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn


class Teller:
    """Prints a line for each receipt that moves the story."""

    def __init__(self, engine: Engine, say: Callable[[str], None]) -> None:
        self.engine = engine
        self.say = say
        self.after = 0

    def tell(self) -> None:
        """Everything that was written since the last time."""
        while batch := self.engine.ledger.receipts(after=self.after):
            for receipt in batch:
                line = self._line(receipt)
                if line:
                    self.say(f"{receipt.id:>6}  {visible(line)}")
            self.after = batch[-1].seq

    def _line(self, receipt: Receipt) -> str:
        told = SENTENCES.get(receipt.verb)
        answer = (receipt.payload or {}).get("answer") or {}
        return told(self, receipt, answer) if told else ""

    def get(self, cls: Any, identifier: object) -> Any:
        with self.engine.read() as reader:
            return reader.get(cls, str(identifier))


def _baseline(teller: Teller, receipt: Receipt, answer: dict[str, Any]) -> str:
    check = teller.get(Check, answer["check"])
    return f"the check `{_short(check.argv)}` is {answer['baseline']} on the base commit"


def _begin(teller: Teller, receipt: Receipt, answer: dict[str, Any]) -> str:
    todo, actor = teller.get(Todo, answer["todo"]), teller.get(Actor, receipt.actor)
    return f"{actor.name} takes '{todo.title}' ({answer['turn']}, epoch {answer['epoch']})"


def _finish(teller: Teller, receipt: Receipt, answer: dict[str, Any]) -> str:
    turn = teller.get(Turn, answer["turn"])
    return f"{turn.id} claims it is done: {(receipt.payload or {})['arguments']['summary']}"


def _settle(teller: Teller, receipt: Receipt, answer: dict[str, Any]) -> str:
    if answer.get("refused"):
        said = str(answer.get("tail", "")).strip().splitlines()
        return (
            f"REFUSED by the check (exit {answer['exit']}): {said[-1] if said else ''}; the turn stays open to mend it"
        )
    todo = teller.get(Todo, answer["todo"])
    evidence = teller.get(Evidence, todo.evidence)
    box = "not sandboxed" if evidence is None or evidence.sandbox == "none" else evidence.sandbox
    return f"✓ '{todo.title}' is done, {answer.get('proof')} by the engine's own run of the check ({box})"


def _end(teller: Teller, receipt: Receipt, answer: dict[str, Any]) -> str:
    turn = teller.get(Turn, answer["turn"])
    return f"{turn.id} ended without a claim: {turn.result}, {turn.reason or 'nothing said'}; its files are kept"


def _effect(teller: Teller, receipt: Receipt, answer: dict[str, Any]) -> str:
    effect = teller.get(Effect, answer["effect"])
    if effect.action == "commit":
        return f"the engine commits it: {effect.value[:10]}"
    by = f"under grant {effect.grant}, nobody was asked" if effect.grant else f"as {effect.decision} was answered"
    return f"{effect.action} to {effect.params.get('remote')}/{effect.params.get('ref')} is {effect.state} {by}"


def _ask(teller: Teller, receipt: Receipt, answer: dict[str, Any]) -> str:
    if not answer.get("decision"):
        return ""
    decision = teller.get(Decision, answer["decision"])
    return f"{decision.id} ({decision.risk} risk) waits for a person: {decision.question}"


def _answered(teller: Teller, receipt: Receipt, answer: dict[str, Any]) -> str:
    return f"{answer['decision']} is answered {answer['answer']}, signed ({receipt.strength})"


def _criterion(teller: Teller, receipt: Receipt, answer: dict[str, Any]) -> str:
    return f"criterion {answer['criterion']} is {answer['state']}"


SENTENCES: dict[str, Callable[[Teller, Receipt, dict[str, Any]], str]] = {
    "goal add": lambda t, r, a: f"a person adds the goal {a['goal']}: {a['title']}",
    "goal resume": lambda t, r, a: f"the person signs the plan; {a['goal']} is active",
    "grant add": lambda t, r, a: f"the person grants {a['grant']}: push to origin/preview/*, {a['uses']} uses",
    "place settle": lambda t, r, a: f"its place {a['place']} is {a['state']}",
    "check baseline": _baseline,
    "turn begin": _begin,
    "turn finish": _finish,
    "turn settle": _settle,
    "turn end": _end,
    "turn lose": _end,
    "effect settle": _effect,
    "decision ask": _ask,
    "decision propose": _ask,
    "decision answer": _answered,
    "criterion prove": _criterion,
    "criterion meet": _criterion,
}


def _short(argv: tuple[str, ...]) -> str:
    return " ".join(["python", *argv[1:]] if argv[0].rpartition("/")[2].startswith("python") else argv)
