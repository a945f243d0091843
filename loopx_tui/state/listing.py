"""Listing: everything a pane shows, as sections of lines and rows. The one virtual list paints any listing.

A section has head lines, then rows of one height, then tail lines. Rows may be a window of many: those not read yet are None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from loopx_tui.state.lines import BLANK, Line, Span
from loopx_tui.state.palette import ROLES

Item = dict[str, Any]
PAINTED = frozenset(ROLES)


class Rows(Protocol):
    """Items by position; `at` is None for one that is not read yet, and asks for it; `peek` only looks."""

    def __len__(self) -> int: ...
    def at(self, index: int) -> Item | None: ...
    def peek(self, index: int) -> Item | None: ...
    def index_of(self, name: str) -> int | None:
        """Where the item with this id stands, if that is known."""
        ...


class Whole:
    """Rows that are all in memory."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._places = {str(item.get("id", "")): number for number, item in enumerate(items)}

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def at(self, index: int) -> Item | None:
        return self._items[index]

    peek = at

    def index_of(self, name: str) -> int | None:
        return self._places.get(name)


Painted = Callable[[Item, int], tuple[Line, ...]]
NOTHING = Whole(())


@dataclass(frozen=True)
class Section:
    """`paint(item, width)` gives a row's lines; it may give fewer than `height`, never more are shown."""

    name: str = ""
    head: tuple[Line, ...] = ()
    rows: Rows = NOTHING
    height: int = 1
    paint: Painted = field(default=lambda item, width: ())
    tail: tuple[Line, ...] = ()

    @property
    def lines(self) -> int:
        return len(self.head) + len(self.rows) * self.height + len(self.tail)


@dataclass(frozen=True)
class Spot:
    """Where a line of a listing comes from: a row (its number over all sections, and which of its lines) or fixed text."""

    line: Line | None = None
    section: Section | None = None
    row: int = -1
    index: int = -1
    part: int = 0


@dataclass(frozen=True)
class Listing:
    """Sections, one below the other."""

    sections: tuple[Section, ...] = ()

    @property
    def lines(self) -> int:
        return sum(section.lines for section in self.sections)

    @property
    def rows(self) -> int:
        return sum(len(section.rows) for section in self.sections)

    def spot(self, number: int) -> Spot:
        """What stands at a line."""
        before = 0
        for section in self.sections:
            if number < section.lines:
                return _within(section, number, before)
            number -= section.lines
            before += len(section.rows)
        return Spot(line=BLANK)

    def line_of(self, index: int) -> int:
        """The first line of the row with this number over all sections."""
        top = 0
        for section in self.sections:
            if index < len(section.rows):
                return top + len(section.head) + index * section.height
            index -= len(section.rows)
            top += section.lines
        return top

    def section_of(self, index: int) -> tuple[Section, int] | None:
        """The section of a row, and its number within it."""
        for section in self.sections:
            if 0 <= index < len(section.rows):
                return section, index
            index -= len(section.rows)
        return None

    def item(self, index: int) -> Item | None:
        """The item of a row, if it is read."""
        found = self.section_of(index)
        return found[0].rows.peek(found[1]) if found else None

    def index_of(self, name: str) -> int | None:
        """The row of an id, over all sections."""
        before = 0
        for section in self.sections:
            found = section.rows.index_of(name)
            if found is not None:
                return before + found
            before += len(section.rows)
        return None


def document(lines: Sequence[Line]) -> Listing:
    """A listing of fixed lines."""
    return Listing((Section(head=tuple(lines)),))


def painted(section: Section, item: Item | None, width: int) -> tuple[Line, ...]:
    """A row's lines. A record that cannot be shown costs one placeholder row, never the screen."""
    if item is None:
        return (Line((Span("…", "faint"),)),)
    if "poisoned" in item:
        return _placeholder(item, str(item["poisoned"]))
    try:
        return tuple(map(_paintable, section.paint(item, width)))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return _placeholder(item, "what is kept of it is not whole")


def _paintable(written: Line) -> Line:
    """The line, if its spans are texts in roles of the palette. Raises `TypeError`, `ValueError`."""
    for span in (*written.left, *written.right):
        if not isinstance(span.text, str):
            raise TypeError("a span is no text")
        if span.voice not in PAINTED or (span.ground and span.ground not in PAINTED):
            raise ValueError("a span has no role of the palette")
    return written


def _placeholder(item: Item, why: str) -> tuple[Line, ...]:
    name = str(item.get("id", "?"))
    return (
        Line((Span("✗ ", "bad"), Span("cannot be shown", "bad"), Span(f"  {why}", "soft")), (Span(name, "faint"),)),
    )


def _within(section: Section, number: int, before: int) -> Spot:
    if number < len(section.head):
        return Spot(line=section.head[number])
    number -= len(section.head)
    inside = len(section.rows) * section.height
    if number < inside:
        row, part = divmod(number, section.height)
        return Spot(section=section, row=row, index=before + row, part=part)
    return Spot(line=section.tail[number - inside])
