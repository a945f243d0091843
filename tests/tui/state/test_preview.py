"""A preview as lines: what comes into being, what changes from what to what, and no more than a screen can say."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import OWNER, Kit, kit  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st
from tui.state.texts import EXAMPLES, shown, texts

from loopx_engine import Preview, visible
from loopx_engine.model.receipt import Change
from loopx_tui.state.preview import MOST, QUIET, preview_lines


def preview(*changes: Change) -> Preview:
    """A preview of these changes."""
    given: dict[str, Any] = {
        "verb": "goal edit",
        "arguments": {},
        "risk": "low",
        "authority": ("person",),
        "answer": {},
    }
    return Preview(**given, changes=changes, basis="b", expires=0)


def change(kind: str, id: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Change:
    return Change(kind=kind, id=id, before=before, after=after)


def said(shown_one: Preview, width: int = 100) -> list[str]:
    return [shown(item, width).rstrip() for item in preview_lines(shown_one, width)]


def test_a_new_goal_says_that_it_comes_and_its_criteria_and_checks(kit: Kit) -> None:
    given = {
        "title": "Fix it",
        "project": kit.project(),
        "criterion": [["it works", ["make", "test"]], ["it is clear", []]],
    }
    lines = said(kit.engine.preview("goal add", given, OWNER))
    assert lines[0].startswith("+ goal Fix it")
    assert lines[0].endswith("g-1")
    assert {"+ criterion it works", "+ check make test", "+ criterion it is clear"} <= {
        line.rpartition("  ")[0].strip() for line in lines
    }
    assert not [line for line in lines if "wake" in line]


def test_a_change_says_from_what_to_what(kit: Kit) -> None:
    goal = kit.draft("Fix it")
    lines = said(kit.engine.preview("goal edit", {"goal": goal, "title": "Mend it"}, OWNER))
    assert lines == ["goal g-1  title  Fix it becomes Mend it"]


def test_a_grant_says_what_it_allows_and_how_often(kit: Kit) -> None:
    kit.draft()
    lines = said(kit.engine.preview("grant add", {"kind": "push", "pattern": "origin/x", "uses": 3}, OWNER))
    assert lines[0].startswith("+ grant allow push origin/x, 3 uses")


def test_nothing_is_said_as_nothing() -> None:
    assert said(preview()) == ["nothing would change"]
    assert said(preview(change("wake", "g-1", None, {"at": 1}))) == ["nothing would change"]


def test_what_does_not_fit_is_counted() -> None:
    lines = said(preview(*(change("todo", f"t-{n}", None, {"title": f"todo {n}"}) for n in range(MOST + 5))))
    assert len(lines) == MOST + 1
    assert lines[-1] == "and 5 changes more"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (None, "x", "nothing becomes x"), ("", "x", "nothing becomes x"), ([], ["a", "b"], "nothing becomes a, b"),
        (["a"], [], "a becomes nothing"), (True, False, "yes becomes no"), (1, 0, "1 becomes 0"), (0, 1, "0 becomes 1"),
        ([["a", ["make", "x"]]], [], "a, make, x becomes nothing"),
    ],
)  # fmt: skip
def test_values_are_words(before: Any, after: Any, words: str) -> None:
    assert said(preview(change("goal", "g-1", {"agents": before}, {"agents": after}))) == [f"goal g-1  agents  {words}"]


@pytest.mark.parametrize("name", sorted(QUIET))
def test_what_no_person_asked_about_is_not_shown(name: str) -> None:
    assert said(preview(change("goal", "g-1", {name: 1}, {name: 2}))) == ["nothing would change"]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_hostile_text_in_a_preview_is_visible_text(name: str) -> None:
    text = EXAMPLES[name]
    made = change("todo", "t-1", None, {"title": text})
    moved = change("goal", "g-1", {"title": "x"}, {"title": text})
    first, second = said(preview(made, moved), 20_000)
    assert visible(text).strip() in first
    assert second == f"goal g-1  title  x becomes {visible(text) or 'nothing'}".rstrip()


values = (
    st.none()
    | st.booleans()
    | st.integers()
    | texts
    | st.lists(texts, max_size=3)
    | st.lists(st.lists(texts, max_size=2))
)


@given(st.dictionaries(st.sampled_from(["title", "agents", "body", "kind"]), values), values, st.integers(20, 200))
def test_any_change_fits_the_width(after: dict[str, Any], before: Any, width: int) -> None:
    rows = dict.fromkeys(after, before)
    said(preview(change("goal", "g-1", rows, after), change("todo", "t-1", None, after)), width)
