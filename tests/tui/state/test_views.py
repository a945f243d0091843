"""Every view over a real day: exactly as wide as asked, harmless with any text in any field, whole when a record is damaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tui.state.records import World, changed, fields_in, with_text
from tui.state.texts import EXAMPLES, painted_text, shown, texts

from loopx_engine import visible
from loopx_tui.state.decision import decision_lines
from loopx_tui.state.difference import difference
from loopx_tui.state.goals import card_listing, goals_listing
from loopx_tui.state.listing import Listing, Whole, document
from loopx_tui.state.needs import finding_document, needs_listing

WIDTHS = (20, 40, 58, 60, 80, 99, 100, 120, 160, 200)
LIVE = ["[note] reads", "[ask] may I", "plain", "[result] done"]
View = Callable[[World, int], Listing]
Damage = Callable[[Any, Any], None]


def needs(world: World, width: int, *, two: bool = True, **over: Any) -> Listing:
    return needs_listing({**world.inbox, **over}, width, world.now, (), frozenset(), two=two)


def goals(world: World, width: int, *, two: bool = True, items: list[Any] | None = None) -> Listing:
    rows = world.goals["items"] if items is None else items
    return goals_listing(Whole(rows), len(rows), width, world.now, frozenset(), two=two)


def card(world: World, width: int, *, tight: bool = False, **over: Any) -> Listing:
    at = next(number for number, card in enumerate(world.cards) if card["live"])
    rows = over.pop("todos", world.todos[at]["items"])
    return card_listing(
        {**world.cards[at], **over}, Whole(rows), LIVE, width, world.now, frozenset(), tight=tight
    )  # fmt: skip


def decisions(world: World, width: int) -> Listing:
    return document([line for one in world.decisions for line in decision_lines(one, width, world.now, None)])


def findings(world: World, width: int) -> Listing:
    found = [finding_document(item, width, world.now) for item in world.inbox["findings"]]
    return Listing(tuple(section for one in found for section in one.sections))


VIEWS: dict[str, View] = {
    "needs": needs,
    "needs in one line": lambda world, width: needs(world, width, two=False),
    "goals": goals,
    "goals in one line": lambda world, width: goals(world, width, two=False),
    "card": card,
    "tight card": lambda world, width: card(world, width, tight=True),
    "decisions": decisions,
    "findings": findings,
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_view_fits_every_width(world: World, name: str, width: int) -> None:
    assert len(painted_text(VIEWS[name](world, width), width)) > 3


def hostile(world: World, text: str) -> World:
    """The same day, written by somebody who means harm."""
    return World(
        world.now,
        *(with_text(part, text) for part in (world.inbox, world.goals, world.status)),
        *(tuple(with_text(one, text) for one in part) for part in (world.cards, world.todos, world.decisions)),
    )


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_hostile_text_in_every_field_is_visible_text(world: World, name: str) -> None:
    text = EXAMPLES[name]
    told = hostile(world, text)
    first = visible(text.split()[0])[:8] if text.split() else ""
    for view, write in VIEWS.items():
        said = "\n".join(painted_text(write(told, 120), 120))
        assert first in said, view
        assert "cannot be shown" not in said, view


@settings(max_examples=60, deadline=None)
@given(text=texts, width=st.integers(10, 200), view=st.sampled_from(sorted(VIEWS)))
def test_any_text_in_every_field_fits_any_width(world: World, text: str, width: int, view: str) -> None:
    painted_text(VIEWS[view](hostile(world, text), width), width)


def test_no_view_says_none_or_shows_an_internal_form(world: World) -> None:
    for view, write in VIEWS.items():
        said = "\n".join(painted_text(write(world, 160), 160))
        for word in ("None", "{'", "['", "('", "True", "False", "a-1", "a-3"):
            assert word not in said, (view, word)


# -- records that are damaged ------------------------------------------------------------------------------------------------


def gone(holder: Any, name: Any) -> None:
    del holder[name]


def becomes(value: Any) -> Damage:
    def change(holder: Any, name: Any) -> None:
        holder[name] = value

    return change


DAMAGES = {
    "gone": gone, "None": becomes(None), "a number": becomes(-7), "a huge number": becomes(10**400), "a list": becomes([[]]),
    "an object": becomes({"a": 1}), "a text": becomes("odd"), "infinite": becomes(float("inf")), "bytes": becomes(b"\xff"),
}  # fmt: skip
ROWS: dict[str, tuple[Callable[[World], list[Any]], Callable[[World, list[Any]], Listing]]] = {
    "decision": (lambda world: world.items, lambda world, rows: needs(world, 100, items=rows)),
    "finding": (
        lambda world: world.inbox["findings"],
        lambda world, rows: needs(world, 100, findings=rows),
    ),
    "goal": (lambda world: world.goals["items"], lambda world, rows: goals(world, 100, items=rows)),
    "criterion": (
        lambda world: next(card["criteria"] for card in world.cards if card["live"]),
        lambda world, rows: card(world, 100, criteria=rows),
    ),
    "todo": (
        lambda world: next(todos["items"] for todos in world.todos if len(todos["items"]) > 2),
        lambda world, rows: card(world, 100, todos=rows),
    ),
    "open question": (
        lambda world: next(card["decisions"] for card in world.cards if card["live"]),
        lambda world, rows: card(world, 100, decisions=rows),
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ROWS)
def test_a_damaged_field_costs_its_row_and_no_other(world: World, kind: str, damage: str) -> None:
    rows_of, write = ROWS[kind]
    rows = rows_of(world)
    sound = painted_text(write(world, rows), 100)
    said_elsewhere = {("id",)} if kind == "open question" else set()
    for path in {*fields_in(rows[0])} - said_elsewhere:
        damaged = changed({"row": rows[0]}, ("row", *path), DAMAGES[damage])["row"]
        found = painted_text(write(world, [damaged, *rows[1:]]), 100)
        assert len(found) == len(sound), path
        differing = [number for number, text in enumerate(found) if text != sound[number]]
        assert len(differing) <= 3, (path, differing)


@pytest.mark.parametrize("kind", ROWS)
def test_a_record_the_engine_could_not_read_is_one_row_that_says_why(world: World, kind: str) -> None:
    rows_of, write = ROWS[kind]
    poisoned = {"id": "x-1", "poisoned": "its title is no text", "kind": "k", "subject": "s"}
    found = painted_text(write(world, [poisoned, *rows_of(world)[1:]]), 100)
    assert [text for text in found if "its title is no text" in text]


def test_a_difference_that_is_read_stands_below_its_decision(world: World) -> None:
    diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,300 +1,300 @@\n" + "+line\n" * 300
    high = next(one for one in world.decisions if one["item"]["risk"] == "high")
    said = [shown(item, 80).rstrip() for item in decision_lines(high, 80, world.now, difference(diff))]
    assert "Change  1 file  +300 -0" in said
    assert said[-1] == "and 102 lines more: d"
    none = [
        shown(item, 80).rstrip() for item in decision_lines(high, 80, world.now, difference("", why_not="no place"))
    ]
    assert none[-1] == "Change  no place"
