"""Lines: what is written on a screen, before any colour. A span has a voice (a role of the theme), a line two ends.

Voices: text, soft, faint, accent, run, good, bad. Grounds: ground, side, raised, select, and the state's own (`bad_ground`).
Text is data: it is neither markup nor cut here; the painter sanitises it and cuts it to cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rich.cells import cell_len, split_graphemes

from loopx_engine import visible

NON_JOINER = "\u200c"  # at the end of a line it parts nothing, and would be shown as a mark


@dataclass(frozen=True, slots=True)
class Span:
    """`cells` pads or cuts the text to exactly that many; `ground` is what it stands on, else the line's."""

    text: str
    voice: str = "text"
    bold: bool = False
    ground: str = ""
    cells: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """`right` stands at the right edge and is cut last; `ground` fills the whole line."""

    left: tuple[Span, ...] = ()
    right: tuple[Span, ...] = ()
    ground: str = ""


BLANK = Line()


def line(*left: Span | str, right: Span | str | tuple[Span, ...] = (), ground: str = "") -> Line:
    """A line of spans; a bare string is plain text on the left and faint on the right."""
    ends = right if isinstance(right, tuple) else (Span(right, "faint") if isinstance(right, str) else right,)
    return Line(tuple(Span(part) if isinstance(part, str) else part for part in left), ends, ground)


def chip(word: str, voice: str) -> Span:
    """A word on the ground of its state: `HIGH`, `RUN`; six cells, so that columns hold. Quiet ones are raised."""
    ground = f"{voice}_ground" if voice in ("accent", "run", "good", "bad") else "raised"
    return Span(f" {word[:5]:<4} "[:6], voice, bold=True, ground=ground)


def labelled(label: str, *spans: Span | str, cells: int = 9) -> Line:
    """A small word on the left and the value beside it."""
    return line(Span(label, "faint", cells=cells), *spans)


def width_of(text: str) -> int:
    """The cells a sanitised text takes."""
    return cell_len(text)


def cut(text: str, cells: int) -> str:
    """At most `cells` wide, never inside a grapheme; what was cut is shown by an ellipsis."""
    if cells <= 0:
        return ""
    if cell_len(text) <= cells:
        return text
    spans, _ = split_graphemes(text)
    end, used = 0, 0
    for _, stop, size in spans:
        if used + size > cells - 1:
            break
        end, used = stop, used + size
    return text[:end] + "…"


def fitted(span: Span) -> Span:
    """The span sanitised, and padded or cut to its cells."""
    text = visible(span.text)
    if span.cells is None:
        return replace(span, text=text)
    short = cut(text, span.cells)
    return replace(span, text=short + " " * (span.cells - cell_len(short)))


def laid_out(written: Line, width: int) -> tuple[Span, ...]:
    """The spans of a line of exactly `width` cells: left, a gap, right. Every text in it is sanitised."""
    right = _kept([fitted(span) for span in written.right], max(0, width // 2 if written.left else width))
    taken = sum(cell_len(span.text) for span in right)
    room = width - taken - (1 if right and written.left else 0)
    left = _kept([fitted(span) for span in written.left], max(0, room))
    used = sum(cell_len(span.text) for span in left)
    return (*left, Span(" " * (width - used - taken)), *right)


def _kept(spans: list[Span], room: int) -> list[Span]:
    kept: list[Span] = []
    for span in spans:
        size = cell_len(span.text)
        if size > room:
            short = cut(span.text, room)
            kept.append(replace(span, text=short))
            break
        kept.append(span)
        room -= size
    return kept


def wrapped(text: str, width: int, voice: str = "text", *, bold: bool = False, most: int = 2000) -> list[Line]:
    """A longer text as lines that fit: broken at spaces where there are some, never inside a grapheme."""
    found: list[Line] = []
    for paragraph in visible(text, lines=True).expandtabs(4).split("\n"):
        for piece in _pieces(paragraph, max(1, width)):
            found.append(Line((Span(piece, voice, bold),)))
            if len(found) >= most:
                return found
    return found


def hung(label: str, text: str, width: int, voice: str = "soft", *, cells: int = 9, bold: bool = False) -> list[Line]:
    """A labelled value that may take several lines, the later ones below its first."""
    pieces = wrapped(text, width - cells, voice, bold=bold) or [BLANK]
    first = Line((Span(label, "faint", cells=cells), *pieces[0].left))
    return [first, *(Line((Span("", cells=cells), *item.left)) for item in pieces[1:])]


def _pieces(text: str, width: int) -> Iterator[str]:
    if cell_len(text) <= width:
        yield text
        return
    current, used = "", 0
    for word in _words(text, width):
        size = cell_len(word)
        if current and used + size > width and word.strip(" "):
            yield current.rstrip(" ")
            current, used = "", 0
        current, used = current + word, used + size
    if current.strip(" ") or not text.strip(" "):
        yield current.rstrip(" ")


def _words(text: str, width: int) -> Iterator[str]:
    """Words and the spaces between them, none wider than `width`."""
    start = 0
    while start < len(text):
        blank = text[start] == " "
        end = start
        while end < len(text) and (text[end] == " ") == blank:
            end += 1
        yield from _chopped(text[start:end], width)
        start = end


def _chopped(word: str, width: int) -> Iterator[str]:
    if cell_len(word) <= width:
        yield word
        return
    spans, _ = split_graphemes(word)
    begin, used = 0, 0
    for start, _, size in spans:
        if used + size > width:
            yield word[begin:start].rstrip(NON_JOINER)
            begin, used = start, 0
        used += size
    yield word[begin:]
