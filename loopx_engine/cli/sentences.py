"""What people read after a command: one short line in words, what follows from it, and the receipt at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Answer = dict[str, Any]


def sentences(name: str, answer: Answer, receipts: tuple[str, ...]) -> list[str]:
    """The lines of one verb's answer; the first ends with its receipts."""
    made = SAID[name](answer) if name in SAID else [_plain(name, answer)]
    lines = [f"{made[0]}   {' '.join(receipts)}", *made[1:]]
    if "token" in answer:
        lines.append(f"token (shown once): {answer['token']}")
    return lines


def _goal_add(answer: Answer) -> list[str]:
    return [
        f"{answer['goal']}  {answer['title']}  draft, in {answer['project']}",
        f"next: loopx goal resume {answer['goal']}",
    ]


def _goal_resume(answer: Answer) -> list[str]:
    accepted = answer.get("accepted_todos") or 0
    todos = f", {accepted} todo{'' if accepted == 1 else 's'} accepted" if accepted else ""
    return [f"{answer['goal']}  is active{todos}"]


def _decision_ask(answer: Answer) -> list[str]:
    if answer.get("decision"):
        joined = ", asked before" if answer.get("joined") else f", {answer['risk']} risk" if answer.get("risk") else ""
        return [f"{answer['decision']}  waits for a person{joined}"]
    rule = answer.get("grant") or answer.get("rule") or "the goal's permissions"
    return [f"already answered: {answer['answer']}, by {rule}"]


def _decision_answer(answer: Answer) -> list[str]:
    lines = [f"{answer['decision']}  answered {answer['answer']}"]
    if answer.get("effect"):
        lines.append(f"{answer['effect']}  is carried out by the engine")
    for item in answer.get("carried_out") or []:
        subject = next((str(v) for k, v in item["answer"].items() if k in ("todo", "goal", "criterion", "check")), "")
        lines.append(f"done  {item['verb']}  {subject}".rstrip())
    if answer.get("grant"):
        lines.append(f"{answer['grant']}  remembered")
    return lines


def _phase(answer: Answer) -> list[str]:
    return [f"{answer['goal']}  is {answer['phase']}"]


def _put_back(answer: Answer) -> list[str]:
    return [f"{answer['receipt']}  taken back: {', '.join(answer['put_back']) or 'nothing was left of it'}"]


SAID: dict[str, Callable[[Answer], list[str]]] = {
    "goal add": _goal_add,
    "goal resume": _goal_resume,
    "goal pause": _phase,
    "goal close": _phase,
    "goal reopen": _phase,
    "goal archive": _phase,
    "goal edit": lambda answer: [f"{answer['goal']}  changed"],
    "todo add": lambda answer: [f"{answer['todo']}  {answer['title']}"],
    "actor add": lambda answer: [f"{answer['actor']}  {answer['name']}"],
    "project add": lambda answer: [f"{answer['project']}  {answer['root']}"],
    "decision ask": _decision_ask,
    "decision propose": _decision_ask,
    "decision answer": _decision_answer,
    "undo": _put_back,
}


def _plain(name: str, answer: Answer) -> str:
    """The id of what it was about, what was done, and what else came of it."""
    from loopx_engine.cli.words import given

    noun = name.partition(" ")[0]
    rest = given({key: value for key, value in answer.items() if key not in (noun, "token", "basis", "plan", "epoch")})
    return "  ".join(part for part in (str(answer.get(noun) or ""), name, *rest) if part)
