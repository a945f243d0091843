"""A screen as cells: what Textual's SVG export shows, read back into glyphs with their place, ink and ground.

The export places runs by cells but stretches them by characters; here every glyph (a grapheme, so that an accent or an emoji of
several code points is one) has the column it has in a terminal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from rich.cells import split_graphemes

CELL_X, CELL_Y = 12.2, 24.4
TEXT_Y, GROUND_Y = 20.0, 1.5
SVG = "{http://www.w3.org/2000/svg}"
RULE = re.compile(r"\.[\w-]+-(r\d+) \{ ([^}]*) \}")
NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Ink:
    """How a glyph is drawn: its colour `#rrggbb` and the styles that a terminal has."""

    colour: str
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False


@dataclass(frozen=True)
class Glyph:
    """One grapheme and how many cells it takes (1 or 2)."""

    text: str
    cells: int
    ink: Ink


@dataclass(frozen=True)
class Picture:
    """`glyphs` by (column, row), blanks left out; `grounds` a colour for every cell, by row."""

    width: int
    height: int
    glyphs: dict[tuple[int, int], Glyph]
    grounds: tuple[tuple[str, ...], ...]

    def line(self, row: int) -> str:
        """The text of a row, as it is read: blanks between, none at its end."""
        said, column = [], 0
        while column < self.width:
            glyph = self.glyphs.get((column, row))
            said.append(glyph.text if glyph else " ")
            column += glyph.cells if glyph else 1
        return "".join(said).rstrip()

    def lines(self) -> list[str]:
        """The text of every row."""
        return [self.line(row) for row in range(self.height)]

    def shows(self, text: str) -> bool:
        """Whether some row has this text."""
        return any(text in line for line in self.lines())

    def glyphs_at(self, column: int, row: int, text: str) -> list[Glyph | None]:
        """The glyphs where the graphemes of `text` would stand when it begins at this cell; None for a blank cell."""
        found = []
        for _, cells in graphemes(text):
            found.append(self.glyphs.get((column, row)))
            column += cells
        return found

    def places(self, text: str) -> list[tuple[int, int]]:
        """Every cell (column, row) at which this text begins."""
        found = []
        for row in range(self.height):
            for column in range(self.width):
                glyphs = self.glyphs_at(column, row, text) if text in self.line(row) else [None]
                if "".join(glyph.text if glyph else " " for glyph in glyphs) == text:
                    found.append((column, row))
        return found


def graphemes(text: str) -> list[tuple[str, int]]:
    """(grapheme, cells) of a text; what takes no cell of its own belongs to the one before it."""
    spans, _ = split_graphemes(text)
    found: list[tuple[str, int]] = []
    for start, end, cells in spans:
        if cells == 0 and found:
            before, width = found.pop()
            found.append((before + text[start:end], width))
        else:
            found.append((text[start:end], max(1, cells)))
    return found


def read(svg: str) -> Picture:
    """The cells of what `App.export_screenshot()` returned. Raises `ValueError` where it is not that."""
    root = ElementTree.fromstring(svg)
    styles = {name: _ink(rules) for name, rules in RULE.findall(root.findtext(f"{SVG}style") or "")}
    clip = root.find(f"{SVG}defs/{SVG}clipPath/{SVG}rect")
    if clip is None or not styles:
        raise ValueError("this is no screen that Textual exported")
    width = round((float(clip.attrib["width"]) + 1) / CELL_X)
    height = round((float(clip.attrib["height"]) + 1) / CELL_Y)
    grounds = [["#000000"] * width for _ in range(height)]
    glyphs: dict[tuple[int, int], Glyph] = {}
    screen = root.findall(f"{SVG}g")[-1]
    for rect in screen.findall(f"{SVG}rect"):
        row, start = round((float(rect.attrib["y"]) - GROUND_Y) / CELL_Y), round(float(rect.attrib["x"]) / CELL_X)
        for column in range(start, start + round(float(rect.attrib["width"]) / CELL_X)):
            if column < width and row < height:
                grounds[row][column] = rect.attrib["fill"]
    for run in screen.iter(f"{SVG}text"):
        row, column = round((float(run.attrib["y"]) - TEXT_Y) / CELL_Y), round(float(run.attrib["x"]) / CELL_X)
        ink = styles[run.attrib["class"].rpartition("-")[2]]
        for text, cells in graphemes((run.text or "").replace(NO_BREAK, " ")):
            if column < width and row < height and text.strip():
                glyphs[(column, row)] = Glyph(text, cells, ink)
            column += cells
    return Picture(width, height, glyphs, tuple(map(tuple, grounds)))


def _ink(rules: str) -> Ink:
    said = dict(part.split(":", 1) for part in rules.replace(": ", ":").split(";") if part.strip())
    decoration = said.get("text-decoration", "")
    return Ink(
        colour=said["fill"].strip(),
        bold=said.get("font-weight") == "bold",
        italic=said.get("font-style") == "italic",
        underline="underline" in decoration,
        strike="line-through" in decoration,
    )
