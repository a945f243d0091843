"""Rows of which only a window is in memory: asking for one outside it has it read, and the list goes on meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loopx_tui.state.listing import Item

WINDOW = 300


class Window:
    """The rows `offset..offset+len(items)` of `total`. `missing(index)` is called when a row outside is asked for."""

    def __init__(self, page: dict[str, Any], missing: Callable[[int], None], at: str = "") -> None:
        self.total = int(page["total"])
        self.offset = int(page["offset"])
        self.items: list[Item] = page["items"]
        self._missing = missing
        self._places = {str(item.get("id", "")): self.offset + n for n, item in enumerate(self.items)}
        if at and page["at"] is not None:
            self._places.setdefault(at, int(page["at"]))

    def __len__(self) -> int:
        return self.total

    def at(self, index: int) -> Item | None:
        found = self.peek(index)
        if found is None and 0 <= index < self.total:
            self._missing(index)
        return found

    def peek(self, index: int) -> Item | None:
        inside = index - self.offset
        return self.items[inside] if 0 <= inside < len(self.items) else None

    def index_of(self, name: str) -> int | None:
        return self._places.get(name)


def window_for(index: int) -> int:
    """The offset of the window that has this row in its middle."""
    return max(0, index - WINDOW // 2)
