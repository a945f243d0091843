"""The line everything for people is made of: aligned cells, one style each, and what stands at the right edge."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from loopx_engine.host.sanitiser import visible

WIDTH = 80
STYLES = {
    "accent": "color(215)", "run": "color(75)", "good": "color(114)", "bad": "color(210)", "soft": "color(249)",
    "faint": "color(245)", "bold": "bold", "text": "",
}  # fmt: skip
RISK = {"high": ("HIGH", "bad"), "medium": ("MED", "accent"), "low": ("LOW", "soft")}
GLYPH = {"done": "✓", "met": "✓", "proving": "▸", "dropped": "✗", "waived": "✗"}
LABEL, ID = 11, 6


def console() -> Console:
    """The terminal, or plain text where there is none; 80 columns unless the terminal says otherwise."""
    found = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    if found.is_terminal:
        return found
    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False, width=WIDTH, no_color=True)


def row(width: int, *parts: tuple[str, int, str], right: str = "", style: str = "faint") -> Text:
    """One aligned line: (text, cells, style) each cut to its cells, and what stands at the right edge."""
    line = Text()
    for text, cells, voice in parts:
        piece = Text(visible(text), style=STYLES[voice])
        piece.truncate(cells, overflow="ellipsis", pad=True)
        line.append_text(piece)
    if right:
        line.rstrip()
        end = Text(visible(right), style=STYLES[style])
        end.truncate(max(8, width // 2), overflow="ellipsis")
        line.truncate(max(1, width - end.cell_len - 1), overflow="ellipsis")
        line.append(" " * max(1, width - line.cell_len - end.cell_len))
        line.append_text(end)
    line.rstrip()
    return line


def words(text: str, width: int, style: str = "text", indent: int = 0) -> list[Text]:
    """A longer text as lines that fit, the later ones indented."""
    import textwrap

    found: list[Text] = []
    for line in visible(text, lines=True).expandtabs(4).splitlines():
        wrapped = textwrap.wrap(line, max(20, width - indent), break_long_words=True) or [""]
        found.extend(Text(" " * indent + piece, style=STYLES[style]) for piece in wrapped)
    return found


def count(number: int, what: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{number} {what}" + ("" if number == 1 else "s")
