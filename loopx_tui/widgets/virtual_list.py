"""The one list: it paints any listing of any length, line by line, and keeps its cursor by id.

A listing is built for a width, so a new width builds it anew. Rows that came or went above the cursor never move it on the
screen; a row that vanished hands it to its neighbour. Nothing here knows what the rows mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from loopx_tui.state.lines import Line
from loopx_tui.state.listing import Item, Listing, Spot, painted
from loopx_tui.widgets.paint import Painter
from loopx_tui.widgets.painted import Painted

MARGIN = 2
WHEEL = 3


class VirtualList(Painted, can_focus=True):
    """`show(build)` gives it what to paint; `cursor` is the id of the selected row ("" where nothing can be selected).

    A `quiet` one shows its cursor only while it has the focus.
    """

    ground = "ground"

    class Moved(Message):
        """The cursor stands on another row; `by_hand` when a person moved it."""

        def __init__(self, sender: VirtualList, by_hand: bool) -> None:
            super().__init__()
            self.list = sender
            self.by_hand = by_hand

    class Opened(Message):
        """A row was double clicked."""

        def __init__(self, sender: VirtualList) -> None:
            super().__init__()
            self.list = sender

    def __init__(self, painter: Callable[[], Painter], *, id: str | None = None) -> None:
        super().__init__(painter, id=id)
        self._build: Callable[[int], Listing] = lambda width: Listing()
        self.listing = Listing()
        self.top = 0
        self.index = -1
        self.cursor = ""
        self.marked: frozenset[str] = frozenset()
        self.follow = False
        self.quiet = False
        self._rows: dict[int, tuple[Line, ...]] = {}

    # -- what is shown --------------------------------------------------------------------------------------------------

    def show(self, build: Callable[[int], Listing]) -> None:
        """Paints what `build(width)` gives from now on; the cursor stays on its row."""
        self._build = build
        self._rebuild()

    def rebuild(self) -> None:
        """Builds the listing again: ages moved on, a page was read."""
        self._rebuild()

    @property
    def item(self) -> Item | None:
        """The row under the cursor, if it is read."""
        return self.listing.item(self.index) if self.index >= 0 else None

    def build(self, width: int) -> Listing:
        """What it would show in so many cells, margins included."""
        return self._build(max(1, width - 2 * MARGIN))

    def _rebuild(self) -> None:
        before = self.listing.line_of(self.index) - self.top if self.index >= 0 else 0
        self.listing = self.build(self.size.width)
        self._rows.clear()
        self._keep_cursor(before)
        if self.follow:
            self.top = self._most_top()
        self.repaint()

    def _keep_cursor(self, on_screen: int) -> None:
        found = self.listing.index_of(self.cursor) if self.cursor else None
        if found is not None:
            self.index = found
            self.top = self._bounded(self.listing.line_of(found) - on_screen)
            return
        rows = self.listing.rows
        if self.cursor and 0 <= self.index < rows and self.item is None:
            return
        self.index = min(max(self.index, 0), rows - 1)
        self.top = self._bounded(self.top)
        self._land(by_hand=False)
        if rows:
            self.reveal()

    def _land(self, *, by_hand: bool) -> None:
        """Names the row under the cursor, and says so when it is another."""
        item = self.item
        name = str(item.get("id", "")) if item else ""
        if name != self.cursor:
            self.cursor = name
            self.post_message(self.Moved(self, by_hand))

    # -- moving -----------------------------------------------------------------------------------------------------------

    def move(self, rows: int) -> None:
        """Moves the cursor; where nothing can be selected it scrolls."""
        if not self.listing.rows:
            self.scroll_lines(rows)
            return
        self.go_to(self.index + rows)

    def go_to(self, index: int) -> None:
        """Puts the cursor on the row with this number, or the nearest there is."""
        if not self.listing.rows:
            self.top = self._bounded(0 if index <= 0 else self._most_top())
            self.repaint()
            return
        self.index = min(max(index, 0), self.listing.rows - 1)
        self._land(by_hand=True)
        self.reveal()
        self.repaint()

    def select(self, name: str) -> bool:
        """Puts the cursor on a row by its id; False where it is not there."""
        found = self.listing.index_of(name)
        if found is None:
            return False
        self.go_to(found)
        return True

    def page(self, pages: float) -> None:
        """Moves by a part of the height."""
        if not self.listing.rows:
            self.scroll_lines(round(pages * self.size.height))
            return
        found = self.listing.section_of(self.index)
        height = found[0].height if found else 1
        self.move(max(1, round(abs(pages) * self.size.height / height)) * (1 if pages > 0 else -1))

    def scroll_lines(self, lines: int) -> None:
        """Moves what is shown, not the cursor."""
        top = self._bounded(self.top + lines)
        self.follow = False
        if top != self.top:
            self.top = top
            self.repaint()

    def to_end(self) -> None:
        """Shows the last line."""
        self.top = self._most_top()
        self.repaint()

    @property
    def at_end(self) -> bool:
        """Whether the last line is on the screen."""
        return self.top >= self._most_top()

    def reveal(self) -> None:
        """Scrolls so far that the row under the cursor is on the screen, its section's head with it where there is room."""
        if self.index < 0:
            return
        line = self.listing.line_of(self.index)
        found = self.listing.section_of(self.index)
        height = found[0].height if found else 1
        first = line - (len(found[0].head) if found and found[1] == 0 else 0)
        if first < self.top:
            self.top = self._bounded(min(first, line))
        elif line + height > self.top + self.size.height:
            self.top = self._bounded(line + height - self.size.height)

    def on_screen(self) -> bool:
        """Whether the row under the cursor can be seen."""
        line = self.listing.line_of(self.index)
        return self.index >= 0 and self.top <= line < self.top + self.size.height

    def _most_top(self) -> int:
        return max(0, self.listing.lines - self.size.height)

    def _bounded(self, top: int) -> int:
        return min(max(top, 0), self._most_top())

    # -- painting ---------------------------------------------------------------------------------------------------------

    def strip(self, y: int) -> Strip:
        painter, width = self.painter(), self.size.width
        spot = self.listing.spot(self.top + y)
        inner = max(1, width - 2 * MARGIN)
        if spot.line is not None:
            return self._framed(painter, painter.strip(spot.line, inner, self.ground), width)
        return self._row(painter, spot, inner, width)

    def _row(self, painter: Painter, spot: Spot, inner: int, width: int) -> Strip:
        lines = self._lines_of(spot, inner)
        chosen = spot.index == self.index and (self.has_focus or not self.quiet)
        if spot.part >= len(lines):
            return Strip([painter.blank(width, self.ground)], width)
        written = lines[spot.part]
        if not chosen:
            return self._framed(painter, painter.strip(written, inner, self.ground), width, self._mark(spot))
        ground = "select"
        strip = painter.strip(written, inner, ground, lift=True)
        left = [painter.bar(ground), self._mark(spot) or painter.blank(1, ground)]
        return Strip([*left, *strip, painter.blank(width - inner - MARGIN, ground)], width)

    def _lines_of(self, spot: Spot, inner: int) -> tuple[Line, ...]:
        found = self._rows.get(spot.index)
        if found is None:
            assert spot.section is not None
            found = painted(spot.section, spot.section.rows.at(spot.row), inner)
            if len(self._rows) > 4 * max(1, self.size.height):
                self._rows.clear()
            self._rows[spot.index] = found
        return found

    def _mark(self, spot: Spot) -> Segment | None:
        if spot.part or not self.marked:
            return None
        item = self.listing.item(spot.index)
        if item is None or str(item.get("id")) not in self.marked:
            return None
        painter = self.painter()
        return Segment("x", painter.style("accent", "select" if spot.index == self.index else self.ground, True))

    def _framed(self, painter: Painter, strip: Strip, width: int, mark: Segment | None = None) -> Strip:
        edge = self.ground
        left = [painter.blank(MARGIN - 1, edge), mark] if mark else [painter.blank(MARGIN, edge)]
        return Strip([*left, *strip, painter.blank(max(0, width - strip.cell_length - MARGIN), edge)], width)

    # -- events -----------------------------------------------------------------------------------------------------------

    def resized(self) -> None:
        self._strips = []
        self._rebuild()
        if self.listing.rows and not self.follow:
            self.reveal()

    def on_focus(self) -> None:
        self.repaint()

    def on_blur(self) -> None:
        self.repaint()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_lines(WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_lines(-WHEEL)

    def on_click(self, event: events.Click) -> None:
        spot = self.listing.spot(self.top + event.y)
        if spot.index < 0:
            return
        self.go_to(spot.index)
        if event.chain == 2:
            self.post_message(self.Opened(self))

    def get_content_width(self, container: Any, viewport: Any) -> int:
        return int(container.width)
