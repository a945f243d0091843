"""The filter: words that must all be there, `field:value`, `!` for the opposite. Anything typed is a query; none raises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tui.state.texts import texts

from loopx_tui.state.filtering import Term, kept, matches, parse, render

ITEM: dict[str, Any] = {
    "id": "d-11", "question": "Push the release to [main]?", "risk": "high", "goal_title": "Straße 漢字",
    "blocks": ["t-1", "t-7"], "asked": 3, "waiting": True, "effect": {"remote": "hidden"}, "reason": None, "needs": (),
}  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "meets"),
    [
        ("", True), ("   ", True), ("release", True), ("RELEASE", True), ("push main", True), ("push nowhere", False),
        ("risk:high", True), ("RISK:HIGH", True), ("risk:low", False), ("!risk:low", True), ("!risk:high", False),
        ("!nowhere", True), ("!release", False), ("blocks:t-7", True), ("blocks:t-9", False), ("asked:3", True),
        ("strasse", True), ("漢字", True), ("[main]?", True), ("waiting:true", False), ("hidden", False), ("reason:none", False),
        ("nofield:x", False), ("!nofield:x", True), ("!", False), ("risk:", False), (":high", False), ("high release", True),
    ],
)  # fmt: skip
def test_what_meets_a_query(typed: str, meets: bool) -> None:
    assert matches(parse(typed), ITEM) is meets


def test_a_value_may_hold_colons_and_a_mark() -> None:
    item = {"root": "http://shop", "text": "!important"}
    assert matches(parse("root:http://shop"), item)
    assert matches(parse("text:!important"), item)
    assert parse("!text:!important") == (Term("!important", "text", True),)


@given(texts)
def test_anything_typed_is_a_query_and_none_raises(typed: str) -> None:
    matches(parse(typed), ITEM)


@given(texts)
def test_a_query_is_typed_as_it_reads(typed: str) -> None:
    assert parse(render(parse(typed))) == parse(typed)


@given(texts)
def test_every_term_keeps_what_was_typed(typed: str) -> None:
    assert render(parse(typed)).split() == typed.split()


words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)


@given(words, words)
def test_a_word_and_its_opposite_part_all_items(word: str, text: str) -> None:
    item = {"title": text}
    assert matches(parse(word), item) != matches(parse(f"!{word}"), item)


@given(st.lists(words, max_size=4), st.lists(st.fixed_dictionaries({"title": words, "risk": words}), max_size=6))
def test_more_words_never_keep_more_and_the_order_stays(typed: list[str], items: list[dict[str, Any]]) -> None:
    before = items
    for number in range(len(typed) + 1):
        found = kept(parse(" ".join(typed[:number])), items)
        places = [next(place for place, item in enumerate(before) if item is one) for one in found]
        assert places == sorted(places)
        before = found


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=6), odd, max_size=5), texts)
def test_an_item_with_odd_fields_is_met_or_not_and_nothing_else(item: dict[str, Any], typed: str) -> None:
    assert matches(parse(typed), item) in (True, False)
