"""The story of a goal in sentences a person would say, one a receipt: nothing is said that no receipt says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.effect import Effect
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.message import Message
from loopx_engine.model.place import Place
from loopx_engine.model.receipt import Receipt
from loopx_engine.model.turn import Turn
from loopx_engine.reading.named import Named
from loopx_engine.reading.sound import found, tried
from loopx_engine.rules.proof import serves_criterion

Sentence = tuple[str, str]
SILENT: Sentence = ("", "soft")
MOST = 200
DOES = {"plan": "plans", "replan": "plans anew", "watch": "watches"}
ENDS = {
    "progress": "soft",
    "done": "good",
    "blocked": "accent",
    "failed": "bad",
    "refused": "bad",
    "interrupted": "soft",
}


def sentence_of(reader: Transaction, receipt: Receipt, you: str = "you") -> Sentence:
    """What a receipt says as (text, voice); an empty text where it moves no story. `you` is what a person is called."""
    make = TOLD.get(receipt.verb)
    if make is None:
        return SILENT
    if receipt.payload is None:
        return f"{receipt.verb}: what it said was removed", "soft"
    told, why = tried(make, Teller(reader, receipt, you))
    if why:
        return f"{receipt.verb}: what it said cannot be read", "bad"
    text, voice = told
    return cut(text, MOST), voice


def cut(text: str, most: int) -> str:
    """One line of at most this many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


class Teller:
    """A receipt with what it mentions."""

    def __init__(self, reader: Transaction, receipt: Receipt, you: str) -> None:
        payload = receipt.payload or {}
        self.reader = reader
        self.receipt = receipt
        self.named = Named(reader)
        self.you = you
        self.answer: dict[str, Any] = payload.get("answer") or {}
        self.given: dict[str, Any] = payload.get("arguments") or {}

    def get(self, cls: Any, identifier: object) -> Any:
        """The record, None where there is none. Raises where it cannot be read: then the sentence says so."""
        return found(self.reader, cls, str(identifier)) if identifier else None

    @property
    def by(self) -> str:
        """Who did it: a person is `you`."""
        actor = self.get(Actor, self.receipt.actor)
        if actor is None:
            return self.receipt.actor
        return self.you if actor.kind in ("person", "channel") else str(actor.name)

    def todo(self, name: str = "todo") -> str:
        return self.named.todo(str(self.answer.get(name) or self.given.get(name) or ""))

    def was(self, kind: str, field: str) -> Any:
        """What a field of the changed record of this kind was before."""
        changes = (self.receipt.payload or {}).get("changes", [])
        return next((item["before"].get(field) for item in changes if item["kind"] == kind and item["before"]), None)

    def after(self, word: str) -> str:
        """`: ` and what was said under this name, or nothing."""
        said = str(self.given.get(word) or "").strip()
        return f": {said}" if said else ""


def _goal_resume(t: Teller) -> Sentence:
    accepted = t.answer.get("accepted_todos") or 0
    if not accepted:
        return f"{'started' if t.was('goal', 'phase') == 'draft' else 'resumed'} by {t.by}", "accent"
    return f"plan accepted by {t.by}, {accepted} todo{'' if accepted == 1 else 's'}", "accent"


def _goal_close(t: Teller) -> Sentence:
    return f"closed by {t.by}{t.after('note')}", "good"


def _goal_edit(t: Teller) -> Sentence:
    named = [name for name, value in t.given.items() if name != "goal" and value is not None]
    return f"{', '.join(named) or 'goal'} changed by {t.by}", "accent"


def _criterion(t: Teller) -> Sentence:
    criterion = t.get(Criterion, t.answer["criterion"])
    number = criterion.number if criterion else t.answer["criterion"]
    state = t.answer.get("state", "added")
    if t.receipt.verb == "criterion prove":
        return (f"criterion {number} met", "good") if state == "met" else (f"criterion {number} not met", "bad")
    how = {"met": "confirmed", "waived": "given up"}.get(state, state)
    return f"criterion {number} {how} by {t.by}{t.after('reason')}", "good" if state == "met" else "accent"


def _baseline(t: Teller) -> Sentence:
    check, said = t.get(Check, t.answer["check"]), t.answer["baseline"]
    if said == "cannot run":
        return f"the check `{_short(check)}` cannot run on the base commit", "bad"
    return f"the check `{_short(check)}` is {said} on the base commit", "soft"


def _check_set(t: Teller) -> Sentence:
    return f"check of {t.given['subject']} set by {t.by}: `{' '.join(t.given['argv'])}`", "accent"


def _todo(done: str) -> Callable[[Teller], Sentence]:
    return lambda t: (f"{t.answer['todo']} {done} by {t.by}: {t.todo()}", "soft")


def _begin(t: Teller) -> Sentence:
    if not t.answer.get("todo"):
        return f"{t.by} {DOES.get(t.answer['purpose'], t.answer['purpose'])} ({t.answer['turn']})", "run"
    word = "reviews" if t.answer["purpose"] == "review" else "takes"
    return f"{t.by} {word} “{t.todo()}” ({t.answer['turn']})", "run"


def _finish(t: Teller) -> Sentence:
    outcome = t.given.get("result") or t.given["outcome"]
    return f"{t.answer['turn']} says {outcome}{t.after('summary')}", "soft"


def _settle(t: Teller) -> Sentence:
    turn, state = t.answer["turn"], t.answer
    if state.get("refused"):
        why = _last_line(state.get("tail")) or f"exit {state.get('exit')}"
        left = "; the turn stays open to mend it" if state.get("state") == "open" else ""
        return f"“done” refused by the check: {why}{left}", "bad"
    if state.get("cannot_run"):
        return f"turn {turn} ended: its check cannot run", "bad"
    if state.get("decision"):
        return f"turn {turn} ended: {state['decision']} stands in the way", "accent"
    if state.get("review") == "due":
        return f"turn {turn} waits for a review of “{t.todo()}”", "accent"
    if state.get("review") == "fail":
        return f"review of “{t.todo()}” failed", "bad"
    if state.get("proof"):
        proof = str(state["proof"])
        return f"turn {turn} done, {proof}: “{t.todo()}”{_box(t)}", "good" if serves_criterion(proof) else "accent"
    return _ended(t)


def _box(t: Teller) -> str:
    """Whether the check that proved it ran in no sandbox."""
    ran = [change for change in (t.receipt.payload or {}).get("changes", []) if change["kind"] == "evidence"]
    evidence = t.get(Evidence, ran[-1]["id"]) if ran else None
    return (
        " (not sandboxed)" if evidence is not None and evidence.kind == "check" and evidence.sandbox == "none" else ""
    )


def _ended(t: Teller) -> Sentence:
    turn = t.get(Turn, t.answer["turn"])
    if turn is None:
        return f"turn {t.answer['turn']} ended", "soft"
    kept = "; its files are kept" if t.receipt.verb in ("turn end", "turn lose") else ""
    why = f", {turn.reason}" if turn.reason.strip() else ""
    if turn.state == "lost":
        return f"turn {turn.id} lost{why}{kept}", "bad"
    return f"turn {turn.id} ended: {turn.result}{why}{kept}", ENDS.get(turn.result, "soft")


def _review_settle(t: Teller) -> Sentence:
    if t.answer.get("proof"):
        return f"“{t.todo()}” done, {t.answer['proof']} by {t.you}", "good"
    return f"“{t.todo()}” is open again: {t.answer.get('review') or 'not confirmed'}", "accent"


def _ask(t: Teller) -> Sentence:
    if t.answer.get("answer"):
        rule = t.answer.get("grant") or t.answer.get("rule")
        said = "allowed" if t.answer["answer"] == "yes" else "refused"
        return f"{t.given['question']}: {said} under {rule}, nobody was asked", "soft"
    decision = t.get(Decision, t.answer["decision"])
    if t.answer.get("joined") or decision is None:
        return SILENT
    return f"{decision.id} ({decision.risk} risk) waits for {t.you}: {decision.question}", "accent"


def _answered(t: Teller) -> Sentence:
    said = str(t.given.get("reason") or t.given.get("text") or "").strip()
    how = f", signed ({t.receipt.strength})" if t.receipt.strength else ", not signed"
    planned = sum(item.get("verb") == "todo add" for item in t.answer.get("carried_out") or [])
    if planned:
        return (
            f"plan accepted by {t.by}, {planned} todo{'' if planned == 1 else 's'}{f': {said}' if said else ''}",
            "accent",
        )
    words = f"{t.answer['decision']} answered {t.answer['answer']} by {t.by}{how}{f': {said}' if said else ''}"
    return words + (f"; {t.answer['grant']} remembers it" if t.answer.get("grant") else ""), "accent"


def _expired(t: Teller) -> Sentence:
    again = t.answer.get("asked_anew")
    return f"{t.answer['decision']} ran out{f', asked anew as {again}' if again else ''}", "accent" if again else "soft"


def _void(t: Teller) -> Sentence:
    if t.answer["state"] != "void":
        return SILENT
    again = t.answer.get("asked_anew")
    return f"{t.answer['decision']} is void{t.after('outcome')}{f'; asked anew as {again}' if again else ''}", "bad"


def _effect(t: Teller) -> Sentence:
    effect = t.get(Effect, t.answer["effect"])
    if effect.action == "commit" and effect.state == "done":
        return f"committed {effect.value[:10]}: “{t.named.todo(effect.todo)}”", "good"
    where = {
        "push": f" to {effect.params.get('remote')}/{effect.params.get('ref')}",
        "merge": f" into {effect.params.get('into')}",
    }
    by = (
        f" under {effect.grant}, nobody was asked"
        if effect.grant
        else f", as {effect.decision} says"
        if effect.decision
        else ""
    )
    detail = f": {effect.detail}" if effect.detail and effect.state != "done" else ""
    voice = {"done": "good", "failed": "bad"}.get(t.answer["state"], "accent")
    return f"{effect.action}{where.get(effect.action, '')} {t.answer['state']}{by}{detail}", voice


def _grant(t: Teller) -> Sentence:
    effect = {"deny": "denied", "ask": "asked for"}.get(t.given.get("effect", "allow"), "allowed")
    return (
        f"{t.answer['grant']}: {t.given['kind']} {t.given['pattern']} {effect} by {t.by}, {t.answer['uses']} uses",
        "accent",
    )


def _place(t: Teller) -> Sentence:
    if t.answer["state"] == "ready":
        return f"place {t.answer['place']} is ready", "soft"
    place = t.get(Place, t.answer["place"])
    return f"place {place.id} cannot be used{t.after('reason')}", "bad"


def _message(t: Teller) -> Sentence:
    message = t.get(Message, t.answer["message"])
    said = f"corrected by {t.by}" if message.correction else t.by
    return f"{said}: {message.text}", "accent" if message.correction else "soft"


def _stop(t: Teller) -> Sentence:
    return f"stopped by {t.by}", "accent"


def _by(words: str, voice: str = "accent") -> Callable[[Teller], Sentence]:
    return lambda t: (words.format(by=t.by, **{name: str(value) for name, value in t.answer.items()}), voice)


def _last_line(tail: object) -> str:
    lines = [line for line in str(tail or "").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def _short(check: Check | None) -> str:
    if check is None:
        return "?"
    first = check.argv[0].rpartition("/")[2]
    return " ".join(["python", *check.argv[1:]] if first.startswith("python") else check.argv)


TOLD: dict[str, Callable[[Teller], Sentence]] = {
    "goal add": lambda t: (f"added by {t.by}: {t.answer['title']}", "accent"),
    "goal edit": _goal_edit,
    "goal pause": _by("paused by {by}"),
    "goal resume": _goal_resume,
    "goal close": _goal_close,
    "goal reopen": _by("taken up again by {by}"),
    "goal archive": _by("archived by {by}"),
    "criterion add": _criterion,
    "criterion waive": _criterion,
    "criterion meet": _criterion,
    "criterion prove": _criterion,
    "check set": _check_set,
    "check baseline": _baseline,
    "todo add": _todo("added"),
    "todo edit": _todo("changed"),
    "todo split": _todo("split"),
    "todo drop": _todo("dropped"),
    "todo reopen": _todo("taken up again"),
    "turn begin": _begin,
    "handoff accept": _begin,
    "handoff offer": lambda t: (f"{t.by} hands over “{t.todo()}”{t.after('note')}", "soft"),
    "turn finish": _finish,
    "turn abandon": _ended,
    "turn settle": _settle,
    "turn end": _ended,
    "turn lose": _ended,
    "lease release": _ended,
    "lease take": lambda t: (f"“{t.todo()}” taken from {t.answer['turn']} by {t.by}", "accent"),
    "review settle": _review_settle,
    "decision ask": _ask,
    "decision propose": _ask,
    "decision answer": _answered,
    "decision withdraw": _by("{decision} withdrawn by {by}", "soft"),
    "decision snooze": _by("{decision} put off by {by}", "soft"),
    "decision expire": _expired,
    "decision settle": _void,
    "grant add": _grant,
    "grant revoke": _by("{grant} ended by {by}"),
    "effect settle": _effect,
    "place settle": _place,
    "place set aside": _by("the work in {place} was set aside as {saved}", "soft"),
    "place retry": _by("{place} is tried again by {by}"),
    "place drop": _by("{place} given up by {by}", "soft"),
    "message send": _message,
    "stop": _stop,
    "undo": _by("{receipt} taken back by {by}"),
}
