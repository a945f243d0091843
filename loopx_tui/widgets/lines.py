"""Fixed lines around the panes: head, side, strip, foot. Painted by the one painter, written only where they changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import events
from textual.message import Message
from textual.strip import Strip

from loopx_tui.state.lines import Line
from loopx_tui.widgets.paint import Painter
from loopx_tui.widgets.painted import Painted


class Lines(Painted):
    """`show(lines)` paints these from the top; what is below them is blank ground."""

    class Pressed(Message):
        """A line was clicked: its number, and the cell within it."""

        def __init__(self, sender: Lines, number: int, cell: int) -> None:
            super().__init__()
            self.lines = sender
            self.number = number
            self.cell = cell

    def __init__(self, painter: Callable[[], Painter], *, id: str, ground: str = "side", margin: int = 2) -> None:
        super().__init__(painter, id=id)
        self.ground = ground
        self.margin = margin
        self._lines: list[Line] = []

    @property
    def inner(self) -> int:
        """The cells a line may take."""
        return max(1, self.size.width - 2 * self.margin)

    def show(self, lines: list[Line]) -> None:
        """Paints these lines."""
        if lines != self._lines:
            self._lines = lines
            self.repaint()

    def strip(self, y: int) -> Strip:
        painter, width = self.painter(), self.size.width
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

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Pressed(self, event.y, event.x - self.margin))

    def get_content_height(self, container: Any, viewport: Any, width: int) -> int:
        return max(1, len(self._lines))
