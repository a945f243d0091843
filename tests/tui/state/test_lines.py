"""Lines: exactly as wide as asked for any text, cut between graphemes, sanitised, never markup; columns stay columns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, split_graphemes
from tui.state.texts import EXAMPLES, cells_of, safe, shown, text_of, texts

from loopx_engine import visible
from loopx_tui.state.lines import (
    BLANK,
    Line,
    Span,
    chip,
    cut,
    fitted,
    hung,
    labelled,
    laid_out,
    line,
    width_of,
    wrapped,
)

widths = st.integers(0, 200)
spans = st.builds(Span, texts, cells=st.none() | st.integers(0, 40))
written = st.builds(Line, st.lists(spans, max_size=5).map(tuple), st.lists(spans, max_size=3).map(tuple))


@given(written, widths)
def test_a_line_is_exactly_as_wide_as_asked_whatever_is_written(line: Line, width: int) -> None:
    shown(line, width)


@given(texts, st.integers(0, 80))
def test_what_is_cut_fits_and_says_that_it_was_cut(text: str, cells: int) -> None:
    clean = visible(text)
    short = cut(clean, cells)
    assert cell_len(short) <= cells
    if short != clean:
        assert cells == 0 or short.endswith("…")
        assert clean.startswith(short.removesuffix("…"))


@given(texts, st.integers(1, 80))
def test_nothing_is_cut_inside_a_grapheme(text: str, cells: int) -> None:
    clean = visible(text)
    kept = len(cut(clean, cells).removesuffix("…")) if cell_len(clean) > cells else len(clean)
    assert kept in {0, len(clean), *(end for _, end, _ in split_graphemes(clean)[0])}


@given(texts, st.integers(0, 40))
def test_a_span_of_cells_has_exactly_those(text: str, cells: int) -> None:
    assert cell_len(fitted(Span(text, cells=cells)).text) == cells


@given(st.lists(texts, min_size=2, max_size=6), st.integers(1, 30))
def test_columns_align_under_each_other_whatever_stands_in_them(cells: list[str], wide: int) -> None:
    rows = [line(Span(text, cells=wide), Span("|"), right="end") for text in cells]
    ends = [cell_len(shown(row, 120).partition("|")[0]) for row in rows if "|" not in visible(row.left[0].text)]
    assert set(ends) <= {wide}
    assert all(shown(row, 120).endswith("end") for row in rows)


@given(texts, texts, st.integers(20, 120))
def test_the_right_edge_is_kept_and_the_left_gives_way(left: str, right: str, width: int) -> None:
    end = visible(right)
    text = shown(line(Span(left), right=right), width)
    if cell_len(end) <= width // 2:
        assert text.endswith(end)


def test_a_line_without_a_left_gives_its_right_all_of_the_width() -> None:
    assert shown(Line(right=(Span("x" * 20),)), 20) == "x" * 20


@given(texts, st.integers(2, 120))
def test_a_wrapped_text_fits_into_its_width(text: str, width: int) -> None:
    assert all(cells_of(item) <= width for item in wrapped(text, width))


@given(texts, st.integers(2, 120))
def test_a_wrapped_text_loses_nothing_but_spaces_at_its_breaks(text: str, width: int) -> None:
    def letters(text: str) -> str:
        return text.translate(dict.fromkeys(map(ord, " \n\u200c")))

    whole = visible(text, lines=True).expandtabs(4)
    assert letters("".join(text_of(item.left) for item in wrapped(text, width, most=10**6))) == letters(whole)


@given(texts, st.integers(4, 80))
def test_words_that_fit_are_not_broken(text: str, width: int) -> None:
    words = {word for word in visible(text, lines=True).expandtabs(4).replace("\n", " ").split(" ") if word}
    pieces = {word for item in wrapped(text, width, most=10**6) for word in text_of(item.left).split(" ") if word}
    assert {word for word in words if cell_len(word) <= width} <= pieces


def test_a_word_that_is_broken_behind_a_non_joiner_shows_no_mark_of_it() -> None:
    assert [text_of(item.left) for item in wrapped("می\u200cخواهم", 2)] == ["می", "خو", "اه", "م"]


@given(texts, st.integers(1, 5))
def test_no_more_lines_than_asked_for(text: str, most: int) -> None:
    assert len(wrapped(text, 10, most=most)) <= most


def test_paragraphs_and_blank_lines_stay() -> None:
    assert [text_of(item.left) for item in wrapped("one\n\ntwo three", 5)] == ["one", "", "two", "three"]


@given(texts, st.integers(12, 120))
def test_a_hung_value_stands_below_its_first_line(text: str, width: int) -> None:
    first, *more = hung("because", text, width)
    assert shown(first, width).startswith("because  ")
    assert all(shown(item, width).startswith(" " * 9) for item in more)
    assert all(cells_of(item) <= width for item in (first, *more))


def test_a_hung_value_that_is_empty_still_has_its_label() -> None:
    assert [shown(item, 12) for item in hung("why", "", 12)] == ["why         "]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_hostile_text_is_shown_as_text_and_never_as_markup_or_control(name: str) -> None:
    text = EXAMPLES[name]
    wide = cell_len(visible(text)) + 20
    said = shown(line(Span(text), Span("|"), right="end"), wide)
    assert said.startswith(visible(text) + "|")
    assert said.endswith("end")


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_hostile_text_wraps_into_lines_that_are_safe(name: str) -> None:
    for item in wrapped(EXAMPLES[name], 30, most=10**6):
        assert safe(text_of(item.left))


def test_voice_ground_and_weight_are_kept_when_a_span_is_cut() -> None:
    span = Span("a long title", "accent", bold=True, ground="accent_ground", cells=6)
    assert fitted(span) == replace(span, text="a lon…")
    assert laid_out(Line((replace(span, cells=None),)), 6)[0] == replace(span, text="a lon…", cells=None)


@pytest.mark.parametrize(
    ("voice", "ground"), [("accent", "accent_ground"), ("bad", "bad_ground"), ("soft", "raised"), ("text", "raised")]
)
def test_a_chip_stands_on_the_ground_of_its_state_and_quiet_ones_on_the_raised(voice: str, ground: str) -> None:
    made = chip("MED", voice)
    assert (made.text, made.voice, made.bold, made.ground) == (" MED  ", voice, True, ground)


@pytest.mark.parametrize("word", ["", "MED", "HIGH", "DRAFT", "LONGER THAN THAT"])
def test_a_chip_is_six_cells_wide_so_that_what_follows_aligns(word: str) -> None:
    assert cell_len(chip(word, "soft").text) == 6
    assert word[:5] in chip(word, "soft").text


def test_bare_strings_are_plain_on_the_left_and_faint_on_the_right() -> None:
    made = line("a", right="b")
    assert (made.left, made.right) == ((Span("a"),), (Span("b", "faint"),))
    assert labelled("wants", "x").left == (Span("wants", "faint", cells=9), Span("x"))
    assert shown(BLANK, 7) == " " * 7
    assert width_of("漢a") == 3
