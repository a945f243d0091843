"""The painter: a line becomes a strip of exactly so many cells, in the colours of the palette. Every text is sanitised here."""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from loopx_tui.state.lines import Line, Span, laid_out
from loopx_tui.themes import Palette

AMBIGUOUS = {"│": "|", "─": "-", "━": "=", "·": "-", "…": "~", "“": '"', "”": '"', "→": ">"}
GLYPHS = {"✓": "+", "◦": "o", "⬥": "*", "▸": ">", "✗": "x", "▐": "|"}
TABLES = {"unicode": {}, "narrow": str.maketrans(AMBIGUOUS), "ascii": str.maketrans({**AMBIGUOUS, **GLYPHS})}


class Painter:
    """Paints with one palette; made anew when the theme changes.

    `glyphs`: `unicode`; `narrow` without those an East Asian terminal may draw two cells wide; `ascii`.
    """

    def __init__(self, palette: Palette, *, glyphs: str = "unicode") -> None:
        self.palette = palette
        self.glyphs = glyphs
        self._table = TABLES[glyphs]
        self.style = lru_cache(maxsize=512)(self._style)

    def strip(self, written: Line, width: int, ground: str = "ground", *, lift: bool = False) -> Strip:
        """The strip of a line. `lift` makes quiet voices louder, as on the selected row."""
        base = written.ground or ground
        segments = [self._segment(span, base, lift) for span in laid_out(written, width) if span.text]
        return Strip(segments, width)

    def bar(self, ground: str) -> Segment:
        """The half cell at the left of a selected row: a half block of neutral width, its other half left in the accent."""
        if self.glyphs == "ascii":
            return Segment(">", self.style("accent", ground, True))
        colours = self.palette.colours
        return Segment("▐", Style(color=colours[ground], bgcolor=colours["accent"]))

    def blank(self, width: int, ground: str = "ground") -> Segment:
        """So many cells of a ground."""
        return Segment(" " * width, self.style("text", ground, False))

    def _segment(self, span: Span, base: str, lift: bool) -> Segment:
        text = span.text.translate(self._table) if self._table else span.text
        voice = "soft" if lift and span.voice == "faint" else span.voice
        return Segment(text, self.style(voice, span.ground or base, span.bold))

    def _style(self, voice: str, ground: str, bold: bool) -> Style:
        colours = self.palette.colours
        return Style(color=colours[voice], bgcolor=colours[ground], bold=bold)
