"""The action table: every action has a key, a place in the palette and a line of help; every verb is the engine's."""

from __future__ import annotations

from typing import Any

import pytest
from tui.pilot import House, Stage, house, play

from loopx_engine import TABLE
from loopx_tui.actions import ACTIONS, ELSEWHERE, PERSON, TABLED, VERBS, Action, why_not_for
from loopx_tui.deeds import DO
from loopx_tui.keys import KEYS, SCOPES, key_for, many_shown, of_scope
from loopx_tui.looking import LOOKS
from loopx_tui.palette import Actions

__all__ = ["house"]
KINDS = ("decision", "goal", "todo", "criterion", "finding")


def test_no_action_is_in_the_table_twice() -> None:
    assert len(ACTIONS) == len(TABLED)


@pytest.mark.parametrize("action", TABLED, ids=lambda action: action.id)
def test_every_action_has_a_key_and_a_line_of_help(action: Action) -> None:
    assert key_for(action.id) is not None
    assert action.help
    assert action.help[0].islower()
    assert not action.help.endswith(".")
    assert "\n" not in action.help
    assert len(action.help) < 90


@pytest.mark.parametrize("action", TABLED, ids=lambda action: action.id)
def test_every_verb_of_an_action_is_the_engines_and_a_person_may_say_it(action: Action) -> None:
    assert set(action.verbs) <= {verb.name for verb in TABLE}
    assert set(action.verbs) <= set(PERSON)


@pytest.mark.parametrize("action", TABLED, ids=lambda action: action.id)
def test_what_has_a_verb_is_done_and_what_has_none_only_looks(action: Action) -> None:
    assert (action.how == "view") is (not action.verbs)
    assert (action.id in LOOKS) is (not action.verbs)
    assert (action.id in DO) is bool(action.verbs)
    assert set(action.subject.replace(" or ", ", ").split(", ")) <= {*KINDS, "anything", ""}


def test_every_verb_of_a_person_is_an_action_or_says_where_it_is() -> None:
    acted = {verb for action in TABLED for verb in action.verbs}
    assert acted | set(ELSEWHERE) == set(PERSON)
    assert acted & set(ELSEWHERE) == set()


@pytest.mark.parametrize(("verb", "where"), ELSEWHERE.items())
def test_what_is_done_elsewhere_says_where(verb: str, where: str) -> None:
    assert verb in VERBS
    assert where == f"loopx {verb}" or (where and not where.startswith("loopx"))


def test_the_palette_has_every_action_with_its_key_and_what_it_does(house: House) -> None:
    async def scene(stage: Stage) -> None:
        entries = {name: (title, words) for name, title, words in Actions(stage.app.screen)._entries()}
        assert set(entries) == set(ACTIONS)
        for name, (title, words) in entries.items():
            assert words == (why_not_for(ACTIONS[name], None) or ACTIONS[name].help)
            assert len(title.split()) > 1, "a word and its key"

    play(house, scene, size=(60, 16), settle=False)


@pytest.mark.parametrize("scope", SCOPES)
def test_the_help_has_a_line_for_each_key_of_a_scope(scope: str) -> None:
    printed = [many_shown(key.keys) for key in of_scope(scope)]
    assert len(printed) == len(set(printed)) > 0
    assert {key.action for key in KEYS if key.scope == scope} <= set(ACTIONS)


# -- what an action has to act on ------------------------------------------------------------------------------------------


def subject(kind: str) -> tuple[str, Any]:
    return kind, {"id": "x-1"}


@pytest.mark.parametrize("action", TABLED, ids=lambda action: action.id)
def test_with_nothing_selected_only_what_needs_nothing_can_be_done(action: Action) -> None:
    why_not = why_not_for(action, None)
    assert bool(why_not) is bool(action.subject)
    if action.subject not in ("", "anything"):
        assert why_not == f"select a {action.subject} first"


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("decision yes", {"decision"}), ("todo drop", {"todo"}), ("todo add", {"goal", "todo", "criterion", "decision"}),
        ("edit", {"goal", "todo", "criterion", "decision"}), ("criterion meet", {"criterion"}), ("why", set(KINDS)),
        ("help", set(KINDS)), ("difference", {"decision", "goal", "todo", "criterion"}),
    ],
)  # fmt: skip
def test_an_action_acts_on_its_kind_and_a_goals_also_on_what_is_in_it(name: str, kinds: set[str]) -> None:
    assert {kind for kind in KINDS if not why_not_for(ACTIONS[name], subject(kind))} == kinds
