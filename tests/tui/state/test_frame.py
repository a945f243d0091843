"""Head, side, strip and foot: whole from 60 to 200 cells, what must be known always there, whatever stands in the ledger."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tui.state.records import World
from tui.state.texts import EXAMPLES, shown, text_of

from loopx_engine import visible
from loopx_tui.keys import SCOPES, foot
from loopx_tui.keys import shown as printed
from loopx_tui.state.frame import PANES, STALE_MS, Standing, foot_line, head_line, side_lines, strip_line
from loopx_tui.state.lines import Line, Span, cut, line
from loopx_tui.state.when import DAY, HOUR

NOW = 1_800_000_000_000
WIDTHS = range(60, 201)
SIDE = 20


def status(**over: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "now": NOW, "project": {"id": "p-1", "name": "shop-api", "root": "/srv/code/shop-api"}, "needs_you": [],
        "needs_you_count": 0, "running": [], "broken_count": 0, "next_look": None, "counts": {},
    }  # fmt: skip
    return {**given, **over}


def turn(**over: Any) -> dict[str, Any]:
    return {"turn": "u-1", "actor": "codex-2", "title_todo": "release the fix", "for_ms": 252_000, **over}


STANDINGS = {
    "opening": Standing(),
    "quiet": Standing(status(), True),
    "busy": Standing(status(needs_you_count=123, running=[turn()] * 64, next_look=NOW + HOUR, broken_count=9), True),
    "another day": Standing(status(needs_you_count=12, running=[turn()] * 2, next_look=NOW + 3 * DAY), True),
    "no engine": Standing(status(needs_you_count=2, next_look=NOW), False),
    "stale": Standing(status(needs_you_count=2), True, heard_ms=STALE_MS + 9000),
    "fault": Standing(status(needs_you_count=2), True, heard_ms=61_000, fault="the ledger is busy"),
    "no project": Standing(status(project=None), True),
}


@pytest.mark.parametrize("name", STANDINGS)
def test_every_line_of_the_frame_fits_every_width(name: str) -> None:
    standing = STANDINGS[name]
    for width in WIDTHS:
        shown(head_line(standing, width, NOW), width)
        shown(strip_line(standing, "needs"), width)
        for item in side_lines(standing, "goals", SIDE, NOW):
            shown(item, SIDE)


@pytest.mark.parametrize("name", [name for name in STANDINGS if name != "opening"])
def test_the_head_always_says_what_is_live_and_how_many_wait_for_you(name: str) -> None:
    standing = STANDINGS[name]
    for width in WIDTHS:
        said = shown(head_line(standing, width, NOW), width).rstrip()
        assert standing.status is not None
        assert said.endswith(f"needs {standing.status['needs_you_count']}"), width
        assert name == "fault" or "…" not in said, (width, said)


@pytest.mark.parametrize(
    ("name", "said"),
    [("opening", "opening"), ("quiet", "live"), ("no engine", "✗ no engine"), ("stale", "✗ stale 12s"),
     ("fault", "✗ the ledger is busy")],
)  # fmt: skip
def test_the_head_never_calls_live_what_is_not(name: str, said: str) -> None:
    for width in (60, 80, 120):
        head = shown(head_line(STANDINGS[name], width, NOW), width)
        assert said in head
        assert ("live" in head) is (name == "quiet")


def test_where_there_is_little_room_the_next_look_gives_way_first(utc: None) -> None:
    said = shown(head_line(STANDINGS["another day"], 60, NOW), 60)
    assert said.endswith("live  2 run  needs 12")
    assert shown(head_line(STANDINGS["another day"], 80, NOW), 80).endswith("live  2 run  Mon 18 08:00  needs 12")


def test_a_next_look_is_said_only_while_an_engine_will_look() -> None:
    due = {"next_look": NOW + HOUR}
    assert "next" in shown(head_line(Standing(status(**due), True), 120, NOW), 120)
    assert "next" not in shown(head_line(Standing(status(**due), False), 120, NOW), 120)
    assert "next" not in shown(head_line(Standing(status(**due), True, fault="gone"), 120, NOW), 120)


def test_colour_follows_what_it_says() -> None:
    def voices(standing: Standing) -> dict[str, str]:
        return {span.text.strip(): span.voice for span in head_line(standing, 120, NOW).right}

    assert voices(STANDINGS["quiet"])["live"] == "good"
    assert voices(STANDINGS["quiet"])["needs 0"] == "faint"
    assert voices(STANDINGS["no engine"]) == {"✗ no engine": "bad", "needs 2": "accent"}


def test_the_path_of_the_project_is_short_and_only_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/srv/code")
    assert "~/shop-api" in shown(head_line(STANDINGS["quiet"], 120, NOW), 120)
    assert "shop-api" in shown(head_line(STANDINGS["quiet"], 80, NOW), 80)
    assert "~" not in shown(head_line(STANDINGS["quiet"], 80, NOW), 80)
    monkeypatch.setenv("HOME", "/")
    assert "/srv/code/shop-api" in shown(head_line(STANDINGS["quiet"], 120, NOW), 120)


def test_the_side_has_each_pane_with_its_number_and_its_count() -> None:
    counted = Standing(status(needs_you_count=3, counts={"goal.active": 4, "goal.draft": 1, "goal.archived": 9}), True)
    said = [shown(item, SIDE).rstrip() for item in side_lines(counted, "goals", SIDE, NOW)]
    assert said[1:3] == ["1 Needs you        3", "2 Goals            5"]
    assert [item.ground for item in side_lines(counted, "goals", SIDE, NOW)][1:3] == ["side", "select"]


def test_the_side_says_who_works_and_how_long() -> None:
    said = [
        shown(item, SIDE).rstrip()
        for item in side_lines(Standing(status(running=[turn()], broken_count=1), True), "needs", SIDE, NOW)
    ]
    assert "RUNNING NOW" in said
    assert "▸ codex-2       4:12" in said
    assert "  release the fix" in said
    assert said[-1] == "1 finding"


def test_however_many_run_the_side_stays_of_one_screen() -> None:
    assert len(side_lines(STANDINGS["busy"], "needs", SIDE, NOW)) < 36


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_hostile_names_of_projects_and_agents_are_text(name: str) -> None:
    text = EXAMPLES[name]
    project = {"id": "p-1", "name": text, "root": text}
    standing = Standing(
        status(project=project, running=[turn(actor=text, title_todo=text)], needs_you_count=1), True, fault=""
    )
    for width in (60, 120, 200):
        head = shown(head_line(standing, width, NOW), width)
        assert cut(visible(text), 20).removesuffix("…") in head
        assert head.endswith("needs 1")
    for item in side_lines(standing, "needs", SIDE, NOW):
        shown(item, SIDE)


def test_the_frame_of_a_real_day(world: World) -> None:
    standing = Standing(world.status, True)
    assert shown(head_line(standing, 120, world.now), 120).startswith("loopx  project")
    assert shown(strip_line(standing, "needs"), 60).rstrip() == " 1 Needs you 5  2 Goals 6"
    assert [text for item in side_lines(standing, "needs", SIDE, world.now) if "ada" in (text := shown(item, SIDE))]


# -- the foot ------------------------------------------------------------------------------------------------------------


def keys_of(said: Line) -> list[str]:
    return [span.text for span in said.left[::2]]


@given(
    st.sampled_from(sorted(SCOPES)), st.sets(st.sampled_from([key.action for key in foot("needs")])), st.integers(60, 200),
    st.booleans(), st.none() | st.text(max_size=40),
)  # fmt: skip
def test_the_foot_shows_whole_keys_in_their_order_and_help_last(
    scope: str, disabled: set[str], width: int, narrow: bool, undo: str | None
) -> None:
    said = Line((), (Span(undo),)) if undo is not None else None
    found = foot_line(scope, frozenset(disabled), said, width, narrow=narrow)
    text = shown(found, width)
    assert text_of(found.left).rstrip() in text, "nothing of it is cut"
    wanted = [key for key in foot(scope) if key.action not in disabled]
    names = [printed(key.keys[0]) for key in wanted]
    assert keys_of(found)[:-1] == names[: len(keys_of(found)) - 1]
    assert keys_of(found)[-1] == (names[-1] if names else "?")


@given(st.integers(60, 199))
def test_a_wider_foot_never_shows_fewer_keys(width: int) -> None:
    fewer, more = (keys_of(foot_line("needs", frozenset(), None, size)) for size in (width, width + 1))
    assert len(fewer) <= len(more)


def test_the_foot_says_short_words_where_there_is_little_room() -> None:
    assert "no, with reason" in text_of(foot_line("needs", frozenset(), None, 120).left)
    narrow = text_of(foot_line("needs", frozenset(), None, 80, narrow=True).left)
    assert "no, with reason" not in narrow
    assert "n no" in narrow


def test_what_was_just_done_stands_at_the_right_of_the_foot() -> None:
    said = line(right="r-12  z takes it back")
    assert shown(foot_line("needs", frozenset(), said, 80), 80).endswith("r-12  z takes it back")


def test_what_can_do_nothing_here_is_not_in_the_foot() -> None:
    assert "y" not in keys_of(foot_line("needs", frozenset({"decision yes"}), None, 120))


def test_keys_of_ones_own_stand_in_the_foot() -> None:
    own = {"decision yes": ("f9", "y"), "help": ("h",)}
    found = keys_of(foot_line("needs", frozenset(), None, 200, own=own))
    assert (found[0], found[-1]) == ("f9", "h")
    assert "y" not in found


def test_the_strip_has_what_the_side_has() -> None:
    text = text_of(strip_line(STANDINGS["busy"], "needs").left)
    assert [title for _, _, title in PANES if title in text] == [title for _, _, title in PANES]
    assert len(text) <= 60
    assert [span.ground for span in strip_line(STANDINGS["busy"], "goals").left] == ["side", "select"]
