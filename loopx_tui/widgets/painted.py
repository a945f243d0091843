"""Painted: a widget that keeps the strips it shows and writes only the cells that changed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from loopx_tui.widgets.paint import Painter


class Painted(Widget):
    """`strip(y)` paints one line of what is shown, exactly as wide as the widget."""

    def __init__(self, painter: Callable[[], Painter], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.painter = painter
        self._strips: list[Strip] = []

    def strip(self, y: int) -> Strip:
        """One line."""
        raise NotImplementedError

    def repaint(self) -> None:
        """Paints what differs from what is on the screen, and nothing else."""
        height = self.size.height
        before, self._strips = self._strips, [self.strip(y) for y in range(height)]
        if len(before) != height:
            self.refresh()
            return
        changed = [(y, *span) for y in range(height) if (span := changed_cells(before[y], self._strips[y])) is not None]
        if changed:
            self.refresh(*(Region(x, y, width, 1) for y, x, width in changed))

    def restyle(self) -> None:
        """Paints all of it: the theme changed."""
        self._strips = []
        self.repaint()

    def render_line(self, y: int) -> Strip:
        return self._strips[y] if y < len(self._strips) else self.strip(y)

    def on_resize(self, event: events.Resize) -> None:
        self.resized()

    def resized(self) -> None:
        """Another size: all of it is painted."""
        self.restyle()


def changed_cells(before: Strip, after: Strip) -> tuple[int, int] | None:
    """The first cell that differs and how many from there on may; None where both are the same."""
    old, new = list(before), list(after)
    if old == new:
        return None
    left = sum(part.cell_length for part, _ in takewhile(lambda pair: pair[0] == pair[1], zip(new, old, strict=False)))
    ends = zip(reversed(new), reversed(old), strict=False)
    right = sum(part.cell_length for part, _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    width = max(before.cell_length, after.cell_length)
    return left, max(1, width - left - right)
