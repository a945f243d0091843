"""Drawing a screen: an SVG that is the same everywhere, and a PNG of it with fonts that are named, not found by chance.

Every cell is `CELL` units; block and line characters are rectangles, so that bars and rules have no gaps. Nothing of the
machine or the moment is in the SVG: equal cells, equal bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from loopx_engine.errors import NotFound
from screenshots.cells import Glyph, Ink, Picture

CELL = (11, 23)
FONT_SIZE, BASELINE = 18, 18
ZOOM = 1.5
FAMILIES = "DejaVu Sans Mono, Noto Sans CJK SC, Noto Color Emoji, DejaVu Sans, monospace"
FONTS = {
    "fonts-dejavu-core": ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf", "DejaVuSans.ttf"),
    "fonts-noto-cjk": ("NotoSansCJK-Regular.ttc", "NotoSansCJK-Bold.ttc"),
    "fonts-noto-color-emoji": ("NotoColorEmoji.ttf",),
}
FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts", "~/Library/Fonts", "~/.fonts", "~/.local/share/fonts",
    "~/AppData/Local/Microsoft/Windows/Fonts",
)  # fmt: skip
EIGHTHS = "▁▂▃▄▅▆▇"
LEFTS = "▏▎▍▌▋▊▉"
Box = tuple[float, float, float, float]
"""Left, top, width, height."""
BLOCKS: dict[str, Box] = {
    "█": (0, 0, 1, 1), "▀": (0, 0, 1, 0.5), "▐": (0.5, 0, 0.5, 1), "▔": (0, 0, 1, 0.125), "▕": (0.875, 0, 0.125, 1),
    "━": (0, 0.4, 1, 0.2),
    **{block: (0, 1 - number / 8, 1, number / 8) for number, block in enumerate(EIGHTHS, 1)},
    **{block: (0, 0, number / 8, 1) for number, block in enumerate(LEFTS, 1)},
}  # fmt: skip
SHADES = {"░": 0.25, "▒": 0.5, "▓": 0.75}
ARMS = {
    "─": "lr", "│": "ud", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu", "├": "udr", "┤": "udl", "┬": "lrd", "┴": "lru",
    "┼": "lrud", "╭": "rd", "╮": "ld", "╰": "ru", "╯": "lu",
}  # fmt: skip
DIAMOND = "⬥"
WIDE_FONT = ' font-family="Noto Sans CJK SC" font-size="20"'
"""Two cells are wider than an em of the font beside it: a little larger fills them."""
FIRST_SYMBOL, FIRST_EMOJI = 0x2190, 0x1F000
RIGHT_TO_LEFT = range(0x0590, 0x0900)
SELECTOR = "\N{VARIATION SELECTOR-16}"


# -- SVG ------------------------------------------------------------------------------------------------------------------


def to_svg(picture: Picture) -> str:
    """The picture as SVG: grounds, then drawn blocks, then text with a place for every character."""
    width, height = picture.width * CELL[0], picture.height * CELL[1]
    base = Counter(ground for row in picture.grounds for ground in row).most_common(1)[0][0]
    body = [*_grounds(picture, base), *_blocks(picture), *_texts(picture)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="{FAMILIES}" '
        f'font-size="{FONT_SIZE}" shape-rendering="crispEdges">\n'
        f'<rect width="{width}" height="{height}" fill="{base}"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _grounds(picture: Picture, base: str) -> Iterator[str]:
    """Rectangles of one ground, each as wide as it goes in a row and as high as equal ones follow each other."""
    open_spans: dict[tuple[int, int, str], int] = {}
    for row in range(picture.height + 1):
        spans = set(_spans(picture.grounds[row], base)) if row < picture.height else set()
        for span in [span for span in open_spans if span not in spans]:
            start, end, colour = span
            first = open_spans.pop(span)
            yield _rect(start * CELL[0], first * CELL[1], (end - start) * CELL[0], (row - first) * CELL[1], colour)
        for span in sorted(spans):
            open_spans.setdefault(span, row)


def _spans(row: tuple[str, ...], base: str) -> Iterator[tuple[int, int, str]]:
    start = 0
    for column in range(1, len(row) + 1):
        if column == len(row) or row[column] != row[start]:
            if row[start] != base:
                yield start, column, row[start]
            start = column


def _blocks(picture: Picture) -> Iterator[str]:
    """Block and line characters as rectangles, joined where they touch; and the diamond, which few fonts have."""
    pieces: dict[tuple[str, str], list[Box]] = {}
    for (column, row), glyph in sorted(picture.glyphs.items(), key=_reading):
        x, y = column * CELL[0], row * CELL[1]
        if glyph.text == DIAMOND:
            yield _diamond(x, y, glyph.ink.colour)
        for left, top, wide, high in _pieces(glyph.text):
            shade = f' fill-opacity="{SHADES[glyph.text]}"' if glyph.text in SHADES else ""
            pieces.setdefault((glyph.ink.colour, shade), []).append((x + left, y + top, wide, high))
    for (colour, shade), boxes in pieces.items():
        for box in _joined(boxes):
            yield _rect(*box, colour, shade)


def _pieces(text: str) -> list[Box]:
    """The rectangles of a character in its cell."""
    wide, high = CELL
    if text in BLOCKS:
        left, top, width, height = BLOCKS[text]
        return [(left * wide, top * high, width * wide, height * high)]
    if text in SHADES:
        return [(0, 0, wide, high)]
    x, y = wide // 2, high // 2
    arms = {"l": (0, y, x + 1, 1), "r": (x, y, wide - x, 1), "u": (x, 0, 1, y + 1), "d": (x, y, 1, high - y)}
    return [arms[arm] for arm in ARMS.get(text, "")]


def _joined(boxes: list[Box]) -> list[Box]:
    """The same area with fewer rectangles: side by side ones first, then those above each other."""
    rows: list[Box] = []
    for x, y, wide, high in sorted(boxes, key=lambda box: (box[1], box[3], box[0])):
        if rows and rows[-1][1] == y and rows[-1][3] == high and x <= rows[-1][0] + rows[-1][2]:
            start = rows[-1][0]
            rows[-1] = (start, y, max(rows[-1][2], x + wide - start), high)
        else:
            rows.append((x, y, wide, high))
    columns: list[Box] = []
    for x, y, wide, high in sorted(rows, key=lambda box: (box[0], box[2], box[1])):
        last = columns[-1] if columns else None
        if last and last[0] == x and last[2] == wide and y <= last[1] + last[3]:
            columns[-1] = (x, last[1], wide, max(last[3], y + high - last[1]))
        else:
            columns.append((x, y, wide, high))
    return columns


def _diamond(x: int, y: int, colour: str) -> str:
    middle_x, middle_y, reach = x + CELL[0] / 2, y + CELL[1] / 2, 4.5
    corners = ((0, -reach), (reach, 0), (0, reach), (-reach, 0))
    places = " ".join(f"{_number(middle_x + dx)},{_number(middle_y + dy)}" for dx, dy in corners)
    return f'<polygon points="{places}" fill="{colour}" shape-rendering="auto"/>'


def _drawn(text: str) -> bool:
    return text in BLOCKS or text in SHADES or text in ARMS or text == DIAMOND


def _texts(picture: Picture) -> Iterator[str]:
    """Runs of one ink; what the monospaced font may not have stands alone, in the middle of its cells."""
    run: list[tuple[int, Glyph]] = []
    last = (-1, -1)
    for (column, row), glyph in sorted(picture.glyphs.items(), key=_reading):
        drawn = _drawn(glyph.text)
        alone = not drawn and _alone(glyph)
        follows = (
            run and not drawn and not alone and row == last[1] and column - last[0] <= 2 and glyph.ink == run[0][1].ink
        )
        if run and not follows:
            yield _run(run, last[1])
            run = []
        if alone:
            yield _single(column, row, glyph)
        elif not drawn:
            run.append((column, glyph))
        last = (column, row)
    if run:
        yield _run(run, last[1])


def _run(run: list[tuple[int, Glyph]], row: int) -> str:
    places = " ".join(str(column * CELL[0]) for column, _ in run)
    text = "".join(glyph.text for _, glyph in run)
    return f'<text x="{places}" y="{row * CELL[1] + BASELINE}"{_look(run[0][1].ink)}>{escape(text)}</text>'


def _single(column: int, row: int, glyph: Glyph) -> str:
    middle = _number((column + glyph.cells / 2) * CELL[0])
    y = row * CELL[1] + BASELINE
    font = ' font-family="Noto Color Emoji"' if _emoji(glyph.text) else WIDE_FONT if glyph.cells > 1 else ""
    return f'<text x="{middle}" y="{y}" text-anchor="middle"{font}{_look(glyph.ink)}>{escape(glyph.text)}</text>'


def _alone(glyph: Glyph) -> bool:
    code = ord(glyph.text[0])
    return glyph.cells > 1 or len(glyph.text) > 1 or code >= FIRST_SYMBOL or code in RIGHT_TO_LEFT


def _look(ink: Ink) -> str:
    decoration = " ".join(name for name, on in (("underline", ink.underline), ("line-through", ink.strike)) if on)
    said = f' fill="{ink.colour}"'
    said += ' font-weight="bold"' if ink.bold else ""
    said += ' font-style="italic"' if ink.italic else ""
    return said + (f' text-decoration="{decoration}"' if decoration else "")


def _rect(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    sizes = " ".join(
        f'{name}="{_number(value)}"' for name, value in (("x", x), ("y", y), ("width", width), ("height", height))
    )
    return f'<rect {sizes} fill="{fill}"{more}/>'


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _reading(item: tuple[tuple[int, int], Glyph]) -> tuple[int, int]:
    (column, row), _ = item
    return row, column


# -- PNG ------------------------------------------------------------------------------------------------------------------


def to_png(picture: Picture) -> bytes:
    """The SVG drawn with named fonts. Raises `NotFound` (`font_missing`) where one that the picture needs is not here."""
    import resvg_py

    files = [str(path) for path in fonts(needed(picture))]
    return bytes(resvg_py.svg_to_bytes(svg_string=to_svg(picture), zoom=ZOOM, skip_system_fonts=True, font_files=files))


def needed(picture: Picture) -> tuple[str, ...]:
    """The packages whose fonts the picture's characters need."""
    wide = [glyph.text for glyph in picture.glyphs.values() if glyph.cells > 1]
    emoji = [text for text in wide if _emoji(text)]
    more = (("fonts-noto-cjk", len(wide) > len(emoji)), ("fonts-noto-color-emoji", bool(emoji)))
    return ("fonts-dejavu-core", *(name for name, wanted in more if wanted))


def fonts(packages: Iterable[str], folders: Iterable[str] = FOLDERS) -> list[Path]:
    """The font files of these packages, the first of each name. Raises `NotFound`, naming the packages to install."""
    wanted = {name: package for package in packages for name in FONTS[package]}
    found: dict[str, Path] = {}
    for folder in (Path(name).expanduser() for name in folders):
        for path in sorted(folder.rglob("*.tt?")) if folder.is_dir() else ():
            if path.name in wanted:
                found.setdefault(path.name, path)
    missing = [name for name in wanted if name not in found]
    if missing:
        names = " ".join(dict.fromkeys(wanted[name] for name in missing))
        raise NotFound(
            f"the pictures need the fonts {', '.join(missing)}",
            code="font_missing",
            next=f"(Debian, Ubuntu) apt-get install {names}",
        )
    return [found[name] for name in wanted]


def _emoji(text: str) -> bool:
    return FIRST_EMOJI <= ord(text[0]) < 0x20000 or SELECTOR in text or text[0] in "✅❌⭐⏰⏳⚡"
