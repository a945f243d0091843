"""The cursor of a list is an id: whatever comes, goes or moves around it, it stays on its row, or goes to the next one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from loopx_engine.reading.goals import window
from loopx_tui.links.pages import Window
from loopx_tui.state.lines import Line, line
from loopx_tui.state.listing import Item, Listing, Rows, Section, Whole
from loopx_tui.themes import FALLBACK
from loopx_tui.widgets.paint import Painter
from loopx_tui.widgets.virtual_list import VirtualList

LIMIT = 5
HEAD = (line("Head"), line(""))
numbers = st.integers(0, 60)
changes = st.lists(
    st.tuples(st.sampled_from(["insert", "remove", "move", "remove cursor"]), numbers, numbers), max_size=12
)


def row(item: Item, width: int) -> tuple[Line, ...]:
    return (line(item["id"]),)


def listed(rows: Rows, height: int = 1) -> Callable[[int], Listing]:
    return lambda width: Listing((Section("first", HEAD, rows, height, row), Section(head=HEAD)))


def made(ids: list[str], height: int = 1) -> VirtualList:
    painter = Painter(FALLBACK)
    found = VirtualList(lambda: painter)
    found.show(listed(Whole([{"id": name} for name in ids]), height))
    return found


def changed(ids: list[str], change: tuple[str, int, int], cursor: str, fresh: str) -> list[str]:
    """The ids after one of them came, went, or moved."""
    how, one, other = change
    after = list(ids)
    if how == "insert" or not after:
        after.insert(one % (len(after) + 1), fresh)
        return after
    gone = after.index(cursor) if how == "remove cursor" else one % len(after)
    name = after.pop(gone)
    if how == "move":
        after.insert(other % (len(after) + 1), name)
    return after


def heir(before: list[str], after: list[str], cursor: str) -> str:
    """Who has the cursor next: the same row, else the one that stands in its place now, else the one before it."""
    if cursor in after or not after:
        return cursor if cursor in after else ""
    return after[min(before.index(cursor), len(after) - 1)]


@given(st.integers(1, 12), numbers, changes, st.sampled_from([1, 3]))
def test_the_cursor_keeps_its_id_or_goes_to_its_nearest_neighbour(
    many: int, at: int, steps: list[tuple[str, int, int]], height: int
) -> None:
    ids = [f"g-{number}" for number in range(many)]
    shown = made(ids, height)
    shown.go_to(at % many)
    for number, step in enumerate(steps):
        before, ids = ids, changed(ids, step, shown.cursor, f"n-{number}")
        wanted = heir(before, ids, shown.cursor) if shown.cursor else ids[0] if ids else ""
        shown.show(listed(Whole([{"id": name} for name in ids]), height))
        assert shown.cursor == wanted
        assert ids[shown.index : shown.index + 1] == ([wanted] if wanted else [])


@given(st.integers(2, 12), numbers, changes)
def test_a_row_that_stays_stays_where_it_is_on_the_screen(
    many: int, at: int, steps: list[tuple[str, int, int]]
) -> None:
    ids = [f"g-{number}" for number in range(many)]
    shown = made(ids)
    shown.go_to(at % many)
    for number, step in enumerate(step for step in steps if step[0] != "remove cursor"):
        cursor, on_screen = shown.cursor, shown.listing.line_of(shown.index) - shown.top
        after = changed(ids, step, cursor, f"n-{number}")
        if cursor not in after:
            continue
        ids = after
        shown.show(listed(Whole([{"id": name} for name in ids])))
        line_now = shown.listing.line_of(shown.index)
        assert line_now - shown.top == min(on_screen, line_now)


class Ledger:
    """Ids in order, read by pages of a few rows as the workspace reads them."""

    def __init__(self, ids: list[str]) -> None:
        self.ids, self.asked = ids, 0

    def page(self, offset: int, at: str) -> dict[str, Any]:
        index = self.ids.index(at) if at in self.ids else None
        begin = window(offset, LIMIT, index)
        items = [{"id": name} for name in self.ids[begin : begin + LIMIT]]
        return {"total": len(self.ids), "offset": begin, "at": index, "items": items}

    def read(self, shown: VirtualList, offset: int) -> None:
        """Reads a page around the cursor, and what is still asked for after it."""
        for begin in (offset, max(0, shown.index - LIMIT // 2)):
            rows = Window(self.page(begin, shown.cursor), self.ask, shown.cursor)
            shown.show(listed(rows))
            if shown.item is not None or not self.ids:
                return

    def ask(self, index: int) -> None:
        self.asked = index


@given(st.integers(1, 40), numbers, changes, numbers)
def test_it_keeps_its_id_in_a_window_of_a_list_too_long_to_be_read(
    many: int, at: int, steps: list[tuple[str, int, int]], offset: int
) -> None:
    ledger = Ledger([f"g-{number}" for number in range(many)])
    shown = made([])
    ledger.read(shown, 0)
    shown.go_to(at % many)
    ledger.read(shown, at % many)
    assert shown.cursor == f"g-{at % many}"
    for number, step in enumerate(steps):
        before, ledger.ids = ledger.ids, changed(ledger.ids, step, shown.cursor, f"n-{number}")
        wanted = heir(before, ledger.ids, shown.cursor) if shown.cursor else ledger.ids[0]
        ledger.read(shown, offset % (len(ledger.ids) + 1))
        assert shown.cursor == wanted
        assert shown.listing.item(shown.index) == ({"id": wanted} if wanted else None)


def test_a_row_that_is_not_read_yet_is_asked_for_and_keeps_its_cursor() -> None:
    ledger = Ledger([f"g-{number}" for number in range(40)])
    shown = made([])
    ledger.read(shown, 0)
    assert shown.select("g-3")
    rows = Window(ledger.page(30, ""), ledger.ask)
    shown.show(listed(rows))
    assert (shown.cursor, shown.index, shown.item) == ("g-3", 3, None)
    assert rows.at(3) is None
    assert ledger.asked == 3
    ledger.read(shown, 0)
    assert shown.item == {"id": "g-3"}
