"""Acts: the exact command of every kind of act and proposal, and whether it can be taken back."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import pytest
import strategies

from loopx_engine.commands.answering import NEVER_PROPOSED
from loopx_engine.commands.verbs import TABLE
from loopx_engine.model.decision import Decision
from loopx_engine.model.effect import EFFECT_KINDS
from loopx_engine.reading.acts import BACK, STAYS, acts_of, command_line, leaves, undo_of

SHA = "0123456789abcdef" * 2 + "01234567"


def effect(**given: Any) -> Decision:
    return replace(strategies.decision(), kind="effect", effect=given, commands=())


def proposal(*commands: dict[str, object]) -> Decision:
    return replace(strategies.decision(), kind="proposal", effect=None, commands=commands)


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"action": "push", "remote": "origin", "ref": "main", "sha": SHA}, ["git push origin 0123456789:main"]),
        ({"action": "push", "remote": "my fork", "ref": "a;b", "sha": SHA}, ["git push 'my fork' '0123456789:a;b'"]),
        ({"action": "merge", "into": "main", "sha": SHA}, ["git switch main", "git merge --no-ff 0123456789"]),
        ({"action": "command", "argv": ["npm", "i", "left pad"]}, ["npm i 'left pad'"]),
        ({"action": "command", "argv": ("sh", "-c", "a; b")}, ["sh -c 'a; b'"]),
        ({"action": "command"}, ['{"action": "command"}']),
        ({"action": "write", "path": "/etc/x", "text": "héllo"}, ["write 6 bytes to /etc/x"]),
        ({"action": "post", "to": "#team", "text": "done"}, ["post to #team: done"]),
        ({"action": 5}, ['{"action": 5}']),
        ({}, ["{}"]),
    ],
)
def test_an_act_is_shown_as_it_would_be_typed(given: dict[str, Any], lines: list[str]) -> None:
    assert acts_of(effect(**given)) == lines


def test_a_choice_does_nothing() -> None:
    plain = replace(strategies.decision(), kind="choice", effect=None, commands=())
    assert acts_of(plain) == []
    assert not leaves(plain)
    assert undo_of(plain)["can"]


@pytest.mark.parametrize("action", EFFECT_KINDS)
def test_each_act_says_whether_it_leaves_and_that_it_cannot_be_taken_back(action: str) -> None:
    assert leaves(effect(action=action)) == (action in ("push", "post", "command"))
    assert undo_of(effect(action=action))["can"] is False
    assert undo_of(effect(action=action))["text"].startswith("not by us")


def test_an_unknown_act_is_taken_to_leave() -> None:
    assert leaves(effect(action="fly"))
    assert undo_of(effect(action="fly")) == {"can": False, "text": "not by us"}


@pytest.mark.parametrize(
    ("verb", "arguments", "line"),
    [
        ("goal close", {"goal": "g-1"}, "loopx goal close g-1"),
        ("goal edit", {"goal": "g-1", "budget": "turns=200"}, "loopx goal edit g-1 --budget turns=200"),
        ("goal edit", {"goal": "g-1", "network": False}, "loopx goal edit g-1 --no-network"),
        ("goal edit", {"goal": "g-1", "network": True, "title": None}, "loopx goal edit g-1 --network"),
        (
            "todo add",
            {"goal": "g-1", "title": "Fix it; now", "check": ["pytest", "-k", "a b"], "serves": [1, 2], "needs": []},
            "loopx todo add g-1 'Fix it; now' --check 'pytest -k '\"'\"'a b'\"'\"'' --serves 1 --serves 2",
        ),
        ("check set", {"subject": "t-1", "argv": ["pytest", "-q"]}, "loopx check set t-1 'pytest -q'"),
        (
            "goal add",
            {"title": "T", "project": "p-1", "criterion": [["a", ["true", "x"]], ["b", []]]},
            "loopx goal add T --project p-1 --criterion 'a :: true x' --criterion b",
        ),
        (
            "project setup",
            {"project": "p-1", "setup": [["npm", "ci"]]},
            None,
        ),
        ("message send", {"goal": "g-1", "text": "--help"}, "loopx message send -- g-1 --help"),
        ("message send", {"goal": "g-1", "text": "-x", "to": "ada"}, "loopx message send --to ada -- g-1 -x"),
        ("todo drop", {"todo": "t-1", "strange": {"a": 1}}, "loopx todo drop t-1 --strange '{\"a\": 1}'"),
    ],
)  # fmt: skip
def test_a_command_of_a_proposal_is_shown_as_it_would_be_typed(
    verb: str, arguments: dict[str, Any], line: str | None
) -> None:
    shown = command_line({"verb": verb, "arguments": arguments})
    assert shlex.split(shown)[0] == "loopx"
    if line is not None:
        assert shown == line


@pytest.mark.parametrize("item", [{}, {"verb": "fly"}, {"verb": "goal close"}, {"verb": 3, "arguments": []}])
def test_what_is_no_command_of_ours_is_shown_as_it_is(item: dict[str, Any]) -> None:
    assert command_line(item).startswith("{")


def test_every_line_of_a_proposal_is_one_line() -> None:
    shown = acts_of(proposal({"verb": "goal close", "arguments": {"goal": "g-1"}}, {"verb": "fly"}))
    assert shown == ["loopx goal close g-1", '{"verb": "fly"}']


def test_each_verb_that_may_be_proposed_is_shown_without_losing_a_word() -> None:
    for verb in TABLE:
        if set(verb.authority) & {"person", "signed"} and verb.name not in NEVER_PROPOSED:
            assert command_line({"verb": verb.name, "arguments": {}}) == f"loopx {verb.name}"


@pytest.mark.parametrize(
    ("commands", "can", "text"),
    [
        (["goal close"], True, "with loopx goal reopen g-1"),
        (["todo add", "todo add"], True, "with loopx todo drop TODO"),
        (["todo edit", "check set"], True, "with loopx todo edit t-1, loopx check set t-1"),
        (["place retry"], True, "there is nothing to take back"),
        (["goal close", "goal archive"], False, "not as a whole: some of it stays"),
        (["fly"], False, "not as a whole: some of it stays"),
    ],
)
def test_a_proposal_says_what_takes_it_back(commands: list[str], can: bool, text: str) -> None:
    given = {"goal": "g-1", "todo": "t-1", "subject": "t-1"}
    assert undo_of(proposal(*({"verb": verb, "arguments": given} for verb in commands))) == {"can": can, "text": text}


def test_what_takes_back_is_a_verb_and_a_subject_that_is_missing_is_named() -> None:
    known = {verb.name for verb in TABLE}
    for verb, way in BACK.items():
        assert verb in known
        assert not way or " ".join(way.split()[:2]) in known
    assert known >= STAYS
    assert undo_of(proposal({"verb": "todo drop", "arguments": 5}))["text"] == "with loopx todo reopen TODO"
