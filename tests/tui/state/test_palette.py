"""The palette: every role from six colours, blends between two, and the terminal's own names where a theme keeps to them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_tui.state.palette import ANSI, CHIPS, GROUNDS, ROLES, VOICES, blended, derived

colours = st.integers(0, 0xFFFFFF).map(lambda value: f"#{value:06x}")


def test_the_roles_are_the_grounds_the_voices_and_a_ground_for_each_chip() -> None:
    assert set(ROLES) == {*GROUNDS, *VOICES, *(f"{name}_ground" for name in CHIPS)}
    assert len(ROLES) == len(set(ROLES))
    assert set(CHIPS) <= set(VOICES)


@given(colours, colours, st.floats(0, 1))
def test_a_blend_lies_between_its_two(first: str, second: str, share: float) -> None:
    mixed = blended(first, second, share)
    assert re.fullmatch("#[0-9a-f]{6}", mixed)
    for at in (1, 3, 5):
        low, high = sorted((int(first[at : at + 2], 16), int(second[at : at + 2], 16)))
        assert low <= int(mixed[at : at + 2], 16) <= high


@given(colours, colours)
def test_nothing_and_all_of_the_other_are_the_ends_of_a_blend(first: str, second: str) -> None:
    assert (blended(first, second, 0), blended(first, second, 1)) == (first, second)


@given(st.tuples(*[colours] * 6))
def test_six_colours_give_every_role(six: tuple[str, ...]) -> None:
    found = derived(*six)
    assert set(found) == set(ROLES)
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in found.values())
    assert [found[role] for role in ("ground", "text", "accent", "run", "good", "bad")] == list(six)


@pytest.mark.parametrize("role", ROLES)
def test_a_theme_of_the_terminals_own_colours_names_each_role(role: str) -> None:
    assert re.fullmatch("[a-z_]+", ANSI[role])
