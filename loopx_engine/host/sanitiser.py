"""The one sanitiser: whatever is drawn, titled or notified passes here. What could act on a terminal becomes a visible mark.

The ledger keeps the original; this is the rim of output.
"""

from __future__ import annotations

KEPT_JOINERS = frozenset({0x200C, 0x200D, 0xFE0E, 0xFE0F})
HIDDEN = frozenset(
    {
        0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180E, 0x200B, 0x200E, 0x200F,
        0x2028, 0x2029, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x2066, 0x2067,
        0x2068, 0x2069, 0x206A, 0x206B, 0x206C, 0x206D, 0x206E, 0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFA, 0xFFFB,
    }
)  # fmt: skip
TAGS = range(0xE0000, 0xE0080)


def visible(text: str, *, lines: bool = False) -> str:
    """The text with every control, escape, bidi and hidden character as a mark such as `<1b>` or `<u+202e>`.

    Newline and tab stay with `lines=True`; else each is one space. Emoji sequences and combining marks survive.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character, lines) for character in text)


def strip_for_title(text: str, most: int = 80) -> str:
    """A short single line for a window title or a notification."""
    line = visible(text).strip()
    return line if len(line) <= most else line[: most - 1] + "…"


def _shown(character: str, lines: bool) -> str:
    code = ord(character)
    if character in "\n\t":
        return character if lines else " "
    if code < 0x20 or 0x7F <= code < 0xA0:
        return f"<{code:02x}>"
    if code in HIDDEN or code in TAGS or 0xD800 <= code <= 0xDFFF:
        return f"<u+{code:04x}>"
    return character
