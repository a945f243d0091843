"""What comes in from outside: every example of A26.1 in every text field, and ids, lists and objects that are none.

Either it is stored and read back as it is (in Unicode's composed form), or a clear error is raised and nothing is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any
from unicodedata import normalize

import pytest
from engine_kit import ENGINE, OWNER, Kit, kit
from support import a26_1

from loopx_engine.commands.fields import Spec, build, specs
from loopx_engine.commands.verbs import TABLE, verb_of
from loopx_engine.errors import LoopxError, UsageError
from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.handoff import Handoff
from loopx_engine.model.limits import OBJECT_BYTES
from loopx_engine.model.message import Message
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn

__all__ = ["kit"]

CORPUS: dict[str, str] = a26_1()
MORE = {
    "10 kB line": "x" * 10_000,
    "past every limit": "y" * 70_000,
    "wide past the limit": "漢" * 9_000,
    "osc 52": "\x1b]52;c;aGk=\x07",
    "id with a path": "t-1/../../x",
    "id of another kind": "d-1",
    "unknown id": "t-999999",
    "decomposed": "e\u0301a\u0302\u0323",
    "only combining": "\u0301\u0301",
}
TEXTS = {**CORPUS, **MORE}


class Written:
    """What a text was written with, and how it is read back."""

    def __init__(self, who: Any, verb: str, given: dict[str, Any], read: Callable[[Kit, dict[str, Any]], Any]) -> None:
        self.who, self.verb, self.given, self.read = who, verb, given, read


def where(kit: Kit) -> dict[str, Callable[[str], Written]]:
    """Every field of prose, by name."""
    agent = kit.agent()
    goal = kit.goal()
    todo, spare = kit.todo(goal), kit.todo(goal, "spare")
    asked = kit.say("decision ask", goal=goal, question="Well?")
    who = kit.begin(agent, todo=todo)
    turn = who.turn

    def of(cls: Any, name: str, field: str) -> Callable[[Kit, dict[str, Any]], Any]:
        return lambda k, answer: getattr(k.get(cls, answer[name]), field)

    def at(cls: Any, identifier: str, field: str) -> Callable[[Kit, dict[str, Any]], Any]:
        return lambda k, answer: getattr(k.get(cls, identifier), field)

    agents, engine = who, ENGINE
    return {
        "todo title": lambda t: Written(OWNER, "todo add", {"goal": goal, "title": t}, of(Todo, "todo", "title")),
        "todo body": lambda t: Written(OWNER, "todo add", {"goal": goal, "title": "x", "body": t}, of(Todo, "todo", "body")),
        "todo scope": lambda t: Written(
            OWNER, "todo add", {"goal": goal, "title": "x", "scope": [t]}, lambda k, a: k.get(Todo, a["todo"]).scopes[0]
        ),
        "todo edit title": lambda t: Written(OWNER, "todo edit", {"todo": spare, "title": t}, at(Todo, spare, "title")),
        "agents todo": lambda t: Written(agents, "todo add", {"goal": goal, "title": t}, of(Todo, "todo", "title")),
        "agents check": lambda t: Written(
            agents, "todo add", {"goal": goal, "title": "x", "check": ["make", t]},
            lambda k, a: k.get(Check, str(k.get(Todo, a["todo"]).check)).argv[1],
        ),
        "goal title": lambda t: Written(OWNER, "goal add", {"title": t, "project": "p-1"}, of(Goal, "goal", "title")),
        "goal objective": lambda t: Written(
            OWNER, "goal add", {"title": "x", "project": "p-1", "objective": t}, of(Goal, "goal", "objective")
        ),
        "goal edit title": lambda t: Written(OWNER, "goal edit", {"goal": goal, "title": t}, at(Goal, goal, "title")),
        "criterion": lambda t: Written(
            OWNER, "goal add", {"title": "x", "project": "p-1", "criterion": [[t, []]]},
            lambda k, a: next(c.text for c in k.all(Criterion) if c.goal == a["goal"]),
        ),
        "project root": lambda t: Written(OWNER, "project add", {"root": f"/{t}"}, of(Project, "project", "root")),
        "project name": lambda t: Written(OWNER, "project add", {"root": t}, of(Project, "project", "root")),
        "message": lambda t: Written(OWNER, "message send", {"goal": goal, "text": t}, of(Message, "message", "text")),
        "agents message": lambda t: Written(agents, "message send", {"goal": goal, "text": t}, of(Message, "message", "text")),
        "question": lambda t: Written(
            agents, "decision ask", {"goal": goal, "question": t}, of(Decision, "decision", "question")
        ),
        "why": lambda t: Written(
            agents, "decision ask", {"goal": goal, "question": f"why {len(t)} {t[:50]!r}", "why": t},
            of(Decision, "decision", "why"),
        ),
        "option": lambda t: Written(
            agents, "decision ask", {"goal": goal, "question": f"which {t[:50]!r}", "option": [t]},
            lambda k, a: k.get(Decision, a["decision"]).options[0][1],
        ),
        "effect": lambda t: Written(
            agents, "decision ask", {"goal": goal, "question": "post?", "effect": {"action": "post", "to": "x", "text": t}},
            lambda k, a: (k.get(Decision, a["decision"]).effect or {})["text"],
        ),
        "proposal": lambda t: Written(
            agents, "decision propose",
            {"goal": goal, "question": "plan", "commands": [{"verb": "todo add", "arguments": {"goal": goal, "title": t}}]},
            lambda k, a: k.get(Decision, a["decision"]).commands[0]["arguments"]["title"],  # type: ignore[index]
        ),
        "withdrawn": lambda t: Written(
            OWNER, "decision withdraw", {"decision": asked["decision"], "reason": t}, at(Decision, asked["decision"], "reason")
        ),
        "evidence": lambda t: Written(
            agents, "evidence add", {"turn": turn, "kind": "file", "ref": t}, of(Evidence, "evidence", "ref")
        ),
        "evidence note": lambda t: Written(
            agents, "evidence add", {"turn": turn, "kind": "note", "ref": "x", "note": t},
            lambda k, a: k.get(Evidence, a["evidence"]).tail,
        ),
        "transcript": lambda t: Written(
            engine, "turn start", {"turn": turn, "pid": 1, "started": "1/x", "sandbox": "none", "transcript": t},
            at(Turn, str(turn), "transcript"),
        ),
        "broken place": lambda t: Written(
            engine, "place settle", {"place": "pl-1", "state": "broken", "reason": t}, at(Place, "pl-1", "reason")
        ),
        "drop": lambda t: Written(
            OWNER, "todo drop", {"todo": str(kit.say("todo add", goal=goal, title="away")["todo"]), "reason": t},
            lambda k, a: k.get(Todo, a["todo"]).no_successor if t else "",
        ),
        "no successor": lambda t: Written(
            agents, "turn finish", {"turn": turn, "outcome": "progress", "no_successor": t},
            lambda k, a: (k.get(Turn, str(turn)).claim or {})["no_successor"],
        ),
    }  # fmt: skip


@pytest.mark.parametrize("field", [
    "todo title", "todo body", "todo scope", "todo edit title", "agents todo", "agents check", "goal title", "goal objective",
    "goal edit title", "criterion", "project root", "project name", "message", "agents message", "question", "why", "option",
    "effect", "proposal", "withdrawn", "evidence", "evidence note", "transcript", "broken place", "drop",
])  # fmt: skip
def test_every_text_is_stored_as_it_is_or_refused_with_a_clear_error(kit: Kit, field: str) -> None:
    write = where(kit)[field]
    stored = 0
    for name, text in TEXTS.items():
        written = write(text)
        refusal = kit.refusal(written.verb, written.given, written.who)
        if refusal is not None:
            assert refusal.exit_code in (2, 3, 4), (name, refusal)
            assert refusal.message.encode("utf-8")
            continue
        answer = kit.last_answer()
        stored += 1
        read = written.read(kit, answer)
        expected = normalize("NFC", text) if field != "project root" else "/" + normalize("NFC", text)
        assert read == expected[: len(read)] if field == "evidence note" else read == expected, (field, name)
    assert stored > 30


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        ("turn finish", "summary"),
        ("turn finish", "no_successor"),
        ("turn abandon", "reason"),
        ("handoff offer", "note"),
    ],
)
def test_the_words_at_the_end_of_a_turn_are_kept_as_they_are(kit: Kit, verb: str, name: str) -> None:
    agent, goal = kit.agent(), kit.goal(budget="turns=1000")
    todo = kit.todo(goal)
    for number, (label, text) in enumerate(TEXTS.items()):
        kit.say("todo edit", todo=todo, body=f"{number}")
        who = kit.begin(agent, todo=todo)
        given = {"turn": who.turn, name: text, **({"outcome": "progress"} if verb == "turn finish" else {})}
        refusal = kit.refusal(verb, given, who)
        if refusal is not None:
            assert refusal.exit_code == 2, (label, refusal)
            kit.act("turn end", turn=who.turn, result="progress", reason="refused")
            continue
        answer = kit.last_answer()
        turn = kit.get(Turn, str(who.turn))
        if verb == "turn finish":
            read: Any = turn.summary if name == "summary" else (turn.claim or {})[name]
            kit.settle(who)
        else:
            read = turn.reason if verb == "turn abandon" else kit.get(Handoff, answer["handoff"]).note
        assert read == normalize("NFC", text), label


def test_names_of_agents_are_kept_as_they_are(kit: Kit) -> None:
    refused: dict[str, int] = {}
    for label, text in TEXTS.items():
        try:
            answer = kit.sign("actor add", name=text)
        except LoopxError as error:
            refused[label] = error.exit_code
            continue
        assert kit.get(Actor, answer["actor"]).name == normalize("NFC", text)
    assert set(refused.values()) <= {2, 3}
    assert len(refused) < len(TEXTS) / 2


def test_what_a_check_prints_is_kept_as_it_is(kit: Kit) -> None:
    goal = kit.goal()
    check = kit.sign("check set", subject=goal, argv=["make"])["check"]
    for label, text in CORPUS.items():
        refusal = kit.refusal("check baseline", {"check": check, "baseline": "red", "tail": text}, ENGINE)
        if refusal is not None:
            assert refusal.code in ("bad_text", "too_long"), label
            continue
        assert kit.get(Check, check).baseline_tail == normalize("NFC", text)


# -- every field of every verb --------------------------------------------------------------------------------------------


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


ODD: tuple[Any, ...] = (
    deep(50), deep(20_000), None, True, 0, -1, 1.5, float("nan"), 2**53, 2**70, "", " ", "x", "\0", "\ud800", "x" * 70_000,
    "../..", "g-1/..", "t-0", "t-1 ", "T-1", "t-١", [], [[]], [None], [1], ["x"], ["\ud800"], [["x"]], [["x", ["y"]]],
    ["x"] * 10_000, {}, {"a": 1}, {1: 2}, {"a": object()}, [{}], [{"a": 1.5}], [["x", {"a": 1}]], object(), b"x",
    {"a": {"b": ["\ud800"]}}, [("x", "y")], {"a": "x" * 70_000},
)  # fmt: skip


@pytest.mark.parametrize("verb", [verb.name for verb in TABLE])
def test_a_field_takes_what_it_says_and_raises_a_usage_error_for_all_else(verb: str) -> None:
    cls = verb_of(verb).load()
    good = {name: _good(str(item.type), spec) for name, (item, spec) in specs(cls).items() if item.default is MISSING}
    build(cls, good)
    for name in specs(cls):
        for odd in ODD:
            made, said = built(cls, {**good, name: odd})
            assert len(said.encode("utf-8")) < 2000
            if made is not None:
                json.dumps([getattr(made, field.name) for field in fields(made)], allow_nan=False).encode("utf-8")


def built(cls: Any, arguments: dict[str, Any]) -> tuple[Any, str]:
    """The command, or None and what is wrong with its arguments."""
    try:
        return build(cls, arguments), ""
    except UsageError as error:
        return None, error.message


def _good(annotation: str, spec: Spec) -> Any:
    from loopx_engine.model.ids import make

    if annotation == "int":
        return 1
    if annotation.startswith("tuple"):
        return ["x"] if annotation == "tuple[str, ...]" else []
    return make(spec.id, 1) if spec.id else (spec.choices[0] if spec.choices else "x")


def test_an_object_is_bounded(kit: Kit) -> None:
    goal = kit.goal()
    before = kit.seq()
    for given in (
        {"effect": {"action": "post", "to": "x", "text": "y" * OBJECT_BYTES}},
        {"effect": deep(20_000)},
        {"effect": ["post"]},
        {"effect": "post"},
        {"effect": {"action": "post", "to": "x", "cost": 1.5}},
    ):
        with pytest.raises(UsageError):
            kit.say("decision ask", goal=goal, question="post?", **given)
    for commands in (
        [{"verb": "todo add"}] * 201,
        ["todo add"],
        [None],
        [[{"verb": "todo add"}]],
        {"verb": "todo add"},
    ):
        with pytest.raises(UsageError):
            kit.say("decision propose", goal=goal, question="plan", commands=commands)
    assert kit.seq() == before


def test_an_id_is_never_a_path_and_an_unknown_one_says_what_to_list(kit: Kit) -> None:
    kit.goal()
    for verb, name, kind in (("goal pause", "goal", "goal"), ("todo drop", "todo", "todo"), ("place retry", "place", "place"),
                             ("decision snooze", "decision", "decision"), ("message consume", "message", "message")):  # fmt: skip
        for bad in (
            "../g-1",
            "g-1/x",
            "/etc/passwd",
            "g-1\0",
            "g-1\n",
            "g_1",
            "-1",
            "g-",
            "g-1.0",
            "..",
            "~",
            "g-1;ls",
            "%2e",
            "x-1",
        ):
            with pytest.raises(UsageError) as caught:
                kit.say(verb, **{name: bad})
            assert (verb, bad, caught.value.code) == (verb, bad, "bad_id")
            assert caught.value.message.isascii()
        with pytest.raises(LoopxError) as unknown:
            kit.say(
                verb,
                **{name: {"goal": "g", "todo": "t", "place": "pl", "decision": "d", "message": "m"}[kind] + "-999"},
            )
        assert (unknown.value.exit_code, unknown.value.next) == (4, f"loopx list {kind}")
