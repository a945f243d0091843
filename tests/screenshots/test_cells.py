"""Reading a screen back into cells: what stands where, in which ink, on which ground."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from screenshots.cells import Picture, graphemes, read

GROUND, TEXT, ACCENT = "#101318", "#d5dae1", "#f0b65a"
Made = Callable[..., Picture]
WIDE = "目标│x"
FAMILY = "👩‍🚀"
ACCENTED = "e\u0301"


def test_a_picture_has_the_size_of_the_screen(picture: Made) -> None:
    for size in ((40, 6), (80, 24), (123, 7)):
        made = picture("hello", size)
        assert (made.width, made.height) == size
        assert len(made.grounds) == size[1]
        assert {len(row) for row in made.grounds} == {size[0]}


def test_every_line_is_read_as_it_stands(picture: Made) -> None:
    made = picture("one  two\n  three")
    assert made.lines()[:2] == ["one  two", "  three"]
    assert made.lines()[4].strip() == ""


def test_markup_characters_are_only_characters(picture: Made) -> None:
    made = picture("<a> & &amp; \"quoted\" 'so'")
    assert made.line(0) == "<a> & &amp; \"quoted\" 'so'"


def test_a_wide_character_takes_two_cells_and_what_follows_stands_behind_them(picture: Made) -> None:
    made = picture(WIDE)
    assert [made.glyphs[at].text for at in ((0, 0), (2, 0), (4, 0), (5, 0))] == ["目", "标", "│", "x"]
    assert (1, 0) not in made.glyphs
    assert made.glyphs[(0, 0)].cells == 2
    assert made.line(0) == WIDE


def test_an_emoji_of_several_code_points_is_one_glyph(picture: Made) -> None:
    made = picture(FAMILY + "x")
    assert made.glyphs[(0, 0)].text == FAMILY
    assert made.glyphs[(2, 0)].text == "x"


def test_a_combining_mark_belongs_to_its_letter(picture: Made) -> None:
    made = picture(ACCENTED + "a")
    assert made.glyphs[(0, 0)].text == ACCENTED
    assert made.glyphs[(1, 0)].text == "a"


def test_right_to_left_letters_stand_in_the_order_they_are_sent(picture: Made) -> None:
    made = picture("שלום x")
    assert [made.glyphs[(column, 0)].text for column in range(4)] == list("שלום")
    assert made.glyphs[(5, 0)].text == "x"


def test_inks_and_grounds_are_the_colours_on_the_screen(picture: Made) -> None:
    made = picture("hello")
    assert made.glyphs[(0, 0)].ink.colour == TEXT
    assert made.glyphs[(0, 2)].ink.colour == ACCENT
    assert made.grounds[0][0] == GROUND
    assert not made.glyphs[(0, 0)].ink.bold


def test_a_blank_is_no_glyph(picture: Made) -> None:
    made = picture("a b")
    assert {column for column, row in made.glyphs if row == 0} == {0, 2}


def test_shows_looks_at_whole_rows(picture: Made) -> None:
    made = picture("one two\nthree")
    assert made.shows("one two")
    assert made.shows("two")
    assert not made.shows("two three")
    assert not made.shows("ONE")


def test_glyphs_at_follows_the_cells_of_the_text(picture: Made) -> None:
    made = picture("a目b")
    assert [glyph.text if glyph else None for glyph in made.glyphs_at(0, 0, "a目b")] == ["a", "目", "b"]
    assert made.glyphs_at(30, 0, "x") == [None]
    assert made.glyphs_at(39, 5, "xy") == [None, None]


def test_places_are_the_cells_at_which_a_text_begins(picture: Made) -> None:
    made = picture("ab 目 ab\n目b")
    assert made.places("ab") == [(0, 0), (6, 0)]
    assert made.places("目") == [(3, 0), (0, 1)]
    assert made.places("b") == [(1, 0), (7, 0), (2, 1), (2, 3)]
    assert made.places("zebra") == []


def test_the_title_of_the_export_is_no_part_of_it(export: Callable[..., str]) -> None:
    assert read(export("hello", title="one")) == read(export("hello", title="another <title>"))


@pytest.mark.parametrize(
    "svg", ["<svg xmlns='http://www.w3.org/2000/svg'/>", "<svg xmlns='http://www.w3.org/2000/svg'><style/></svg>"]
)
def test_what_is_no_screen_is_refused(svg: str) -> None:
    with pytest.raises(ValueError, match="no screen"):
        read(svg)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("ab", [("a", 1), ("b", 1)]),
        ("目", [("目", 2)]),
        (ACCENTED, [(ACCENTED, 1)]),
        (FAMILY + "x", [(FAMILY, 2), ("x", 1)]),
        ("⚠️!", [("⚠️", 2), ("!", 1)]),
        ("a\u200b\u0301", [("a\u200b\u0301", 1)]),
    ],
)
def test_graphemes_have_their_cells(text: str, found: list[tuple[str, int]]) -> None:
    assert graphemes(text) == found


@given(st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=60))
def test_graphemes_lose_nothing_and_take_the_cells_of_the_text(text: str) -> None:
    found = graphemes(text)
    assert "".join(part for part, _ in found) == text
    assert sum(cells for _, cells in found) >= cell_len(text)
    assert all(cells in (1, 2) for _, cells in found)
