"""A listing: which line is what, whatever its sections hold; a record that cannot be shown costs one placeholder row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tui.state.texts import painted_text, shown, text_of, texts

from loopx_tui.state.lines import Line, Span, line
from loopx_tui.state.listing import Item, Listing, Section, Whole, document, painted


def row(item: Item, width: int) -> tuple[Line, ...]:
    return (line(item["title"]), line(item["id"]))


def section(name: str, head: int, rows: int, height: int, tail: int) -> Section:
    items = [{"id": f"{name}-{number}", "title": f"title {number}"} for number in range(rows)]
    heads = tuple(line(f"{name} head {number}") for number in range(head))
    tails = tuple(line(f"{name} tail {number}") for number in range(tail))
    return Section(name, heads, Whole(items), height, row, tails)


sizes = st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(1, 3), st.integers(0, 2))
listings = st.lists(sizes, max_size=4).map(
    lambda found: Listing(tuple(section(f"s{number}", *size) for number, size in enumerate(found)))
)


def expected(listing: Listing) -> list[str]:
    """The listing written down line by line."""
    found: list[str] = []
    for part in listing.sections:
        found += [text_of(item.left) for item in part.head]
        for number in range(len(part.rows)):
            lines = [text_of(item.left) for item in row(part.rows.at(number) or {}, 40)][: part.height]
            found += [*lines, *[""] * (part.height - len(lines))]
        found += [text_of(item.left) for item in part.tail]
    return found


@given(listings)
def test_each_line_is_what_the_sections_say_in_their_order(listing: Listing) -> None:
    assert [text.rstrip() for text in painted_text(listing, 40)] == expected(listing)


@given(listings, st.integers(-3, 60))
def test_rows_are_found_by_number_and_by_id_in_whatever_section(listing: Listing, index: int) -> None:
    ids = [item["id"] for part in listing.sections for item in part.rows]  # type: ignore[attr-defined]
    assert listing.rows == len(ids)
    item = listing.item(index)
    assert item == (
        None if not 0 <= index < len(ids) else {"id": ids[index], "title": f"title {ids[index].split('-')[1]}"}
    )
    if item is not None:
        assert listing.index_of(item["id"]) == index
        spot = listing.spot(listing.line_of(index))
        assert (spot.index, spot.part) == (index, 0)
        assert spot.section is not None
        assert spot.section.rows.at(spot.row) == item


@given(listings)
def test_behind_the_last_line_nothing_stands(listing: Listing) -> None:
    assert listing.spot(listing.lines).line == Line()
    assert listing.index_of("nobody") is None
    assert listing.section_of(listing.rows) is None


def test_fixed_lines_are_a_listing_without_rows() -> None:
    listing = document([line("one"), line("two")])
    assert (listing.lines, listing.rows) == (2, 0)
    assert [text.strip() for text in painted_text(listing, 10)] == ["one", "two"]


ODD: list[Any] = [None, 7, 1.5, True, [], ["a"], {"a": 1}, b"bytes", float("inf"), 10**400]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_a_record_with_an_odd_field_is_one_placeholder_row(value: Any) -> None:
    part = Section("s", (), Whole([{"id": "g-1", "title": value}]), 2, row)
    [placeholder] = painted(part, part.rows.at(0), 60)
    said = shown(placeholder, 60)
    assert said.startswith("✗ cannot be shown")
    assert said.endswith("g-1")


@pytest.mark.parametrize("item", [{"id": "g-1"}, {}, {"title": "a title", "poisoned": "its text is no text"}])
def test_a_record_with_a_missing_field_is_one_placeholder_row(item: Item) -> None:
    part = Section("s", (), Whole([item]), 2, row)
    [placeholder] = painted(part, item, 60)
    assert "cannot be shown" in shown(placeholder, 60)
    assert shown(placeholder, 60).endswith(item.get("id", "?"))


def test_what_the_engine_says_of_a_damaged_record_stands_in_its_row() -> None:
    item = {"id": "d-3", "poisoned": "its question is no text"}
    [placeholder] = painted(Section(paint=row), item, 60)
    assert "its question is no text" in shown(placeholder, 60)


@pytest.mark.parametrize("words", ["KeyError", "TypeError", "None", "Traceback"])
def test_a_placeholder_has_no_internal_word(words: str) -> None:
    for item in ({"id": "g-1"}, {"id": "g-1", "title": None}):
        assert words not in "".join(shown(found, 90) for found in painted(Section(paint=row), item, 90))


@pytest.mark.parametrize("span", [Span("a", "purple"), Span("a", ground="nowhere"), Span("a", "")])
def test_a_row_in_a_colour_that_no_theme_has_is_a_placeholder(span: Span) -> None:
    part = Section(paint=lambda item, width: (Line((span,)),))
    assert "cannot be shown" in shown(painted(part, {"id": "g-1"}, 40)[0], 40)


@given(texts, texts)
def test_the_placeholder_of_a_hostile_record_is_harmless(name: str, why: str) -> None:
    shown(painted(Section(paint=row), {"id": name, "poisoned": why}, 60)[0], 60)


def test_a_row_that_is_not_read_yet_waits_as_an_ellipsis() -> None:
    assert shown(painted(Section(paint=row), None, 5)[0], 5) == "…    "
