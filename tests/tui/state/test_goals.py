"""Goals: how far each is and why it stands there; the card of one, with a mark for every state and columns that align."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len
from tui.state.records import World
from tui.state.texts import EXAMPLES, painted_text, shown, text_of

from loopx_engine import visible
from loopx_tui.state.goals import (
    BAR,
    CRITERIA,
    MARKS,
    SPOKEN,
    card_listing,
    goals_listing,
    no_goals_lines,
    spoken,
    transcript_lines,
)
from loopx_tui.state.listing import Whole
from loopx_tui.state.when import HOUR

WORDS = ("RUN", "WAIT", "DRAFT", "HOLD", "DONE", "ARCH")
TITLES = ("Fix it", "漢字の長い題名です", "👩‍👩‍👧‍👦", "e\u0301", "W" * 200)


def goals(world: World, width: int, items: list[dict[str, Any]] | None = None, *, two: bool = False) -> list[str]:
    rows = world.goals["items"] if items is None else items
    return painted_text(goals_listing(Whole(rows), len(rows), width, world.now, frozenset({"g-2"}), two=two), width)


def active(world: World) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The card of the goal that runs, and its todos."""
    return next((card, todos["items"]) for card, todos in zip(world.cards, world.todos, strict=True) if card["live"])


def card(
    world: World, width: int = 80, *, live: list[str] | None = None, tight: bool = False, **over: Any
) -> list[str]:
    found, todos = active(world)
    rows = over.pop("todos", todos)
    listing = card_listing({**found, **over}, Whole(rows), live or [], width, world.now, frozenset(), tight=tight)
    return [text.rstrip() for text in painted_text(listing, width)]


@pytest.mark.parametrize("width", [40, 58, 76, 116])
def test_columns_align_whatever_the_word_and_the_title(world: World, width: int) -> None:
    first = world.goals["items"][0]
    items = [
        {**first, "id": f"g-{n}{word}", "word": word, "title": title, "done": done, "todos": 12345}
        for word in WORDS for n, title in enumerate(TITLES) for done in (0, 7, 12345)
    ]  # fmt: skip
    rows = [row for row in goals(world, width, items) if "/12345" in row or "…" in row]
    assert len(rows) == len(items)
    starts = {cell_len(row[: row.index("━")]) for row in rows} if width >= 50 else {0}
    assert len(starts) == 1
    assert {row[:8].strip() for row in rows} <= set(WORDS)


@pytest.mark.parametrize(
    ("done", "todos", "full"), [(0, 0, 0), (0, 9, 0), (3, 6, 6), (9, 9, BAR), (99, 9, BAR), (-5, 9, 0), (1, 10**9, 0)]
)
def test_the_bar_is_as_full_as_what_is_done_and_never_longer(world: World, done: int, todos: int, full: int) -> None:
    item = {**world.goals["items"][0], "id": "g-1", "word": "WAIT", "done": done, "todos": todos}
    listing = goals_listing(Whole([item]), 1, 100, world.now, frozenset(), two=False)
    [row] = listing.sections[0].paint(item, 100)
    bars = [span for span in row.left if span.text and set(span.text) == {"━"}]
    assert sum(len(span.text) for span in bars if span.voice != "rule") == full
    assert sum(len(span.text) for span in bars) == BAR


def test_the_second_line_says_why_it_stands_there(world: World) -> None:
    said = "\n".join(goals(world, 100, two=True))
    for item in world.goals["items"]:
        assert item["line"] in said
    due = {**world.goals["items"][0], "line": "next look", "due": world.now + HOUR}
    assert [row for row in goals(world, 100, [due], two=True) if row.strip().startswith("next look ") and ":" in row]


def test_a_goal_with_a_command_under_way_waits_as_an_ellipsis(world: World) -> None:
    rows = [row for row in goals(world, 100) if row.rstrip().endswith("…")]
    assert len(rows) == 1
    assert "docs site" in rows[0]


def test_the_card_says_what_is_wanted_proved_running_and_next(world: World) -> None:
    said = card(world)
    for text in ("checkout totals  g-1", "Criteria  2 of 3 met", "Todos  1 of 5 proved", "Waits for you", "History"):
        assert [row for row in said if row.startswith(text)], text
    assert [row for row in said if row.startswith("next   you: answer ")]
    assert [
        row for row in said if row.startswith("spent  2/100 turns · ") and row.endswith("412k tokens · $2.10 reported")
    ]
    assert [row for row in said if row.startswith("Live  ada · quantity · 0:30   lease ━")]


@pytest.mark.parametrize(
    ("kind", "due", "said", "voice"),
    [
        ("work", None, "ada may work", "text"), ("wait", HOUR, "ada may work · next look 09:02", "text"),
        ("wait", -1, "ada may work", "text"), ("work", HOUR, "ada may work", "text"), ("ask", None, "ada may work", "accent"),
        ("error", None, "ada may work", "bad"),
    ],
)  # fmt: skip
def test_where_nobody_works_and_nothing_is_asked_the_verdict_says_what_is_next(
    world: World, utc: None, kind: str, due: int | None, said: str, voice: str
) -> None:
    found, _ = active(world)
    verdict = {**found["verdict"], "kind": kind, "text": "ada may work", "next_look": due and world.now + due}
    quiet = {**found, "verdict": verdict, "decisions": [], "live": []}
    listing = card_listing(quiet, Whole([]), [], 80, world.now, frozenset(), tight=True)
    row = next(item for item in listing.sections[0].head if item.left and item.left[0].text == "next")
    assert (row.left[1].text, row.left[1].voice) == (said, voice)


def test_who_works_stands_as_next_where_nothing_is_asked(world: World) -> None:
    assert "next   ada works on “quantity”" in card(world, decisions=[])


@pytest.mark.parametrize("mark", [*MARKS, "waiting", "open", "never heard of"])
def test_every_mark_of_a_todo_has_a_glyph_and_todos_align(world: World, mark: str) -> None:
    _, todos = active(world)
    rows = [
        {**todos[0], "id": f"t-{n}", "mark": mark, "title": title, "who": "@who", "note": "@who"}
        for n, title in enumerate(TITLES)
    ]
    said = [row for row in card(world, 80, todos=rows) if "@who" in row]
    glyph = MARKS.get(mark, ("◦ ", "faint"))[0]
    assert len(said) == len(TITLES)
    assert all(row.startswith(glyph) for row in said)
    assert len({cell_len(row.partition("@who")[0]) for row in said}) == 1


@pytest.mark.parametrize("state", [*CRITERIA, "open", "never heard of"])
def test_every_state_of_a_criterion_has_a_glyph_and_a_word(world: World, state: str) -> None:
    found, _ = active(world)
    said = card(world, criteria=[{**found["criteria"][0], "state": state}])
    row = next(row for row in said if "totals are right" in row)
    assert row.startswith(CRITERIA.get(state, ("◦ ", "faint"))[0])
    assert row.endswith({"met": "· met", "waived": "· given up", "stale": "· stale"}.get(state, "pytest -q"))


def test_a_goal_without_criteria_or_todos_says_the_keys_that_make_them(world: World) -> None:
    found, _ = active(world)
    counts = {**found["counts"], "todos": 0, "proved": 0}
    said = card(world, criteria=[], todos=[], counts=counts)
    assert [row for row in said if row.startswith("Criteria") and row.endswith("b adds one")]
    assert [row for row in said if row.startswith("Todos") and row.endswith("a adds one")]


def test_a_tight_card_leaves_out_blank_lines_alone(world: World) -> None:
    assert [row for row in card(world) if row] == [row for row in card(world, tight=True) if row]
    assert len(card(world, tight=True)) < len(card(world))


def test_an_empty_pane_says_what_a_goal_is_and_the_key_that_makes_one() -> None:
    said = [shown(item, 60).rstrip() for item in no_goals_lines(60)]
    assert "No goal yet" in said
    assert said[-1] == "N a new goal"


# -- what a turn says -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", SPOKEN)
def test_the_engines_marks_become_labels(mark: str) -> None:
    label, voice = SPOKEN[mark]
    assert spoken(f"{mark} something") == (label, "something", voice)


@pytest.mark.parametrize("text", [" [note] indented", "x [result] y", "[notes] more", "[unknown] x", ""])
def test_what_only_looks_like_a_mark_is_what_the_agent_printed(text: str) -> None:
    assert spoken(text) == ("", text, "soft")


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_what_an_agent_prints_is_text(name: str) -> None:
    lines = transcript_lines(EXAMPLES[name].split("\n"), 60)
    assert "".join(shown(item, 60) for item in lines).count("\x1b") == 0
    said = "".join("".join(text_of(item.left[1:]).split()) for item in lines)
    assert said == "".join(visible(EXAMPLES[name], lines=True).split())


def test_only_the_last_lines_of_a_turn_stand_in_its_card(world: World) -> None:
    said = card(world, live=[f"line {number}" for number in range(100)])
    assert [row.strip() for row in said if row.strip().startswith("line ")] == [
        f"line {number}" for number in range(92, 100)
    ]
