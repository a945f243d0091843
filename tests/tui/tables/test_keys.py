"""The key table: one action a key where one stands, no modifier needed, nothing that a multiplexer keeps for itself."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.keys import Keys, _character_to_key

from loopx_tui.actions import ACTIONS
from loopx_tui.keys import KEYS, MEETING, NAMES, SCOPES, Key, foot, key_for, many_shown, meet, of_scope, shown

PLACES = [("needs", "everywhere"), ("goals", "everywhere"), ("decision",), ("live",)]
NAMED = {key.value for key in Keys}
KEPT_BY_OTHERS = {"ctrl+b", "ctrl+a", "ctrl+c", "ctrl+z", "ctrl+s"}


def rows(place: tuple[str, ...]) -> list[Key]:
    return [key for key in KEYS if key.scope in place]


@pytest.mark.parametrize("place", PLACES, ids="-".join)
def test_no_two_actions_are_on_one_key_where_a_person_stands(place: tuple[str, ...]) -> None:
    pressed = Counter(name for row in rows(place) for name in row.keys)
    assert [name for name, count in pressed.items() if count > 1] == []


def test_every_scope_is_a_place_with_a_name_and_has_keys() -> None:
    assert {scope for place in PLACES for scope in place} == set(SCOPES) == {key.scope for key in KEYS}
    assert all(set(pair) <= set(SCOPES) for pair in MEETING)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key.scope}.{key.action}")
def test_a_key_is_of_a_known_action_once_a_scope_with_words_for_the_foot(key: Key) -> None:
    assert key.action in ACTIONS
    assert [row for row in of_scope(key.scope) if row.action == key.action] == [key]
    assert key.keys
    assert key.word.strip()
    assert key.short.strip()
    assert len(key.short) <= len(key.word)


@pytest.mark.parametrize("name", sorted({name for row in KEYS for name in row.keys}))
def test_a_key_can_be_pressed_in_any_terminal(name: str) -> None:
    *modifiers, base = name.split("+")
    assert modifiers in ([], ["ctrl"], ["shift"])
    assert len(base) == 1 or base in NAMED or (base in NAMES and _character_to_key(NAMES[base]) == base)
    assert base.isascii()
    assert name not in KEPT_BY_OTHERS


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key.scope}.{key.action}")
def test_no_action_needs_a_modifier_but_to_draw_again(key: Key) -> None:
    plain = [name for name in key.keys if "+" not in name]
    assert plain or key.action == "redraw"


@pytest.mark.parametrize("scope", SCOPES)
def test_the_foot_has_the_keys_of_its_scope_most_used_first_and_each_action_once(scope: str) -> None:
    found = foot(scope)
    assert [key.rank for key in found] == sorted(key.rank for key in found)
    assert all(key.rank and key.scope in (scope, "everywhere") for key in found)
    actions = [key.action for key in found]
    assert len(actions) == len(set(actions))
    assert actions[-1] == "help"
    own = [key for key in of_scope(scope) if key.rank]
    assert len({key.rank for key in own}) == len(own)
    assert set(own) <= set(found)


def test_the_key_of_an_action_is_that_of_the_scope_that_is_asked_about() -> None:
    assert key_for("difference", "goals") in of_scope("goals")
    assert key_for("difference", "decision") in of_scope("decision")
    assert key_for("decision yes", "goals") in of_scope("needs")
    assert key_for("no such action") is None


def test_actions_meet_where_their_keys_work_at_the_same_time() -> None:
    assert meet("decision yes", "help")
    assert meet("todo add", "help")
    assert meet("decision yes", "decision no")
    assert not meet("decision yes", "todo add")
    assert not meet("follow", "help")
    assert not meet("no such action", "help")


def test_keys_are_printed_as_a_person_reads_them() -> None:
    assert [shown(name) for name in ("slash", "escape", "j", "ctrl+d")] == ["/", "esc", "j", "ctrl+d"]
    assert many_shown(("1", "2", "3", "4")) == "1-4"
    assert many_shown(("1", "2")) == "1 2"
    assert many_shown(("tab", "right", "left")) == "tab → ←"
