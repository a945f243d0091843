"""Texts that people, agents and programs may have written, and how the tests look at what came of them on a line."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from hypothesis import strategies as st
from rich.cells import cell_len
from support import a26_1

from loopx_engine import visible
from loopx_tui.state.lines import Line, Span, laid_out
from loopx_tui.state.listing import Listing, painted
from loopx_tui.state.palette import ROLES

EXAMPLES: dict[str, str] = a26_1()
ACTING = frozenset(("Cc", "Cs", "Zl", "Zp"))
TURNING = frozenset("\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff")
PIECES = (
    "a", "word", " ", "  ", "\n", "\t", "漢字", "ひらがな", "한국어", "é", "e\u0301", "a\u0300\u0301\u0302\u0303",
    "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "1️⃣", "🇩🇪", "שלום", "مرحبا", "می‌خواهم", "\u202e", "\x1b[31m", "\x00", "\x9b",
    "\u200b", "\u3000", "\u00a0", "\u2003", "[bold]", "[/]", "\ud800", "\U0001faf0", "W" * 90, "漢" * 60, "x", "·", "━",
)  # fmt: skip
anything = st.text(st.characters(exclude_categories=()), max_size=60)
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=24).map("".join), anything, st.sampled_from(sorted(EXAMPLES.values()))
)


def text_of(spans: Iterable[Span]) -> str:
    return "".join(span.text for span in spans)


def cells_of(written: Line) -> int:
    """How wide the left side of a line would be if nothing cut it."""
    return sum(cell_len(visible(span.text)) if span.cells is None else span.cells for span in written.left)


def safe(text: str) -> bool:
    """Whether nothing in it acts on a terminal or turns its direction."""
    return not any(unicodedata.category(character) in ACTING or character in TURNING for character in text)


def shown(written: Line, width: int) -> str:
    """A line as it is painted: exactly so wide, harmless, and in roles that every theme has."""
    spans = laid_out(written, width)
    text = text_of(spans)
    assert sum(cell_len(span.text) for span in spans) == width, repr(text)
    assert safe(text), repr(text)
    for span in (*written.left, *written.right):
        assert span.voice in ROLES, span
        assert not span.ground or span.ground in ROLES, span
    assert not written.ground or written.ground in ROLES
    return text


def painted_text(listing: Listing, width: int) -> list[str]:
    """Every line of a listing as it is painted."""
    found = []
    for number in range(listing.lines):
        spot = listing.spot(number)
        if spot.line is not None:
            found.append(shown(spot.line, width))
            continue
        assert spot.section is not None
        lines = painted(spot.section, spot.section.rows.at(spot.row), width)
        found.append(shown(lines[spot.part], width) if spot.part < len(lines) else " " * width)
    return found
