"""Fixed lines around the panes: head, side, strip, foot. Painted by the one painter, written only where they changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from loopx_tui.state.lines import Line
from loopx_tui.widgets.paint import Painter


class Lines(Widget):
    """`show(lines)` paints these from the top; what is below them is blank ground."""

    class Pressed(Message):
        """A line was clicked: its number, and the cell within it."""

        def __init__(self, sender: Lines, number: int, cell: int) -> None:
            super().__init__()
            self.lines = sender
            self.number = number
            self.cell = cell

    def __init__(self, painter: Callable[[], Painter], *, id: str, ground: str = "side", margin: int = 2) -> None:
        super().__init__(id=id)
        self._painter = painter
        self.ground = ground
        self.margin = margin
        self._lines: list[Line] = []
        self._strips: list[Strip] = []

    @property
    def inner(self) -> int:
        """The cells a line may take."""
        return max(1, self.size.width - 2 * self.margin)

    def show(self, lines: list[Line]) -> None:
        """Paints these lines."""
        self._lines = lines
        self._repaint()

    def restyle(self) -> None:
        """Paints all of it: the theme changed."""
        self._strips = []
        self._repaint()

    def _repaint(self) -> None:
        strips = [self._strip(y) for y in range(self.size.height)]
        before, self._strips = self._strips, strips
        if len(before) != len(strips):
            self.refresh()
            return
        changed = [y for y in range(len(strips)) if strips[y] != before[y]]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def render_line(self, y: int) -> Strip:
        return self._strips[y] if y < len(self._strips) else self._strip(y)

    def _strip(self, y: int) -> Strip:
        painter, width = self._painter(), self.size.width
        if y >= len(self._lines):
            return Strip([painter.blank(width, self.ground)], width)
        written = self._lines[y]
        ground = written.ground or self.ground
        chosen = ground == "select"
        edge = (
            [painter.bar(ground), painter.blank(self.margin - 1, ground)]
            if chosen
            else [painter.blank(self.margin, ground)]
        )
        strip = painter.strip(written, self.inner, ground)
        return Strip([*edge, *strip, painter.blank(max(0, width - self.inner - self.margin), ground)], width)

    def on_resize(self, event: events.Resize) -> None:
        self._strips = []
        self._repaint()

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Pressed(self, event.y, event.x - self.margin))

    def get_content_height(self, container: Any, viewport: Any, width: int) -> int:
        return max(1, len(self._lines))
