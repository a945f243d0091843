"""The one sanitiser: whatever is drawn, titled or notified passes here. What could act on a terminal becomes a visible mark.

The ledger keeps the original; this is the rim of output.
"""

from __future__ import annotations

from unicodedata import category

JOINERS = frozenset("\u200c\u200d")
SELECTORS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
SHOWN_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
HIDDEN_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
UNPRINTED = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def visible(text: str, *, lines: bool = False) -> str:
    """The text with every control, escape, bidi and hidden character as a mark such as `<1b>` or `<u+202e>`.

    Newline and tab stay with `lines=True`; else each is one space. Emoji sequences, combining marks and the joiners of
    scripts that need them survive; a joiner or a variation selector that joins or varies nothing is shown.
    """
    if text.isprintable() and (text.isascii() or (SELECTORS | HIDDEN_LETTERS).isdisjoint(text)):
        return text
    shown: list[str] = []
    for at, character in enumerate(text):
        if character.isascii() and character.isprintable():
            shown.append(character)
        elif character in "\n\t":
            shown.append(character if lines else " ")
        elif _hides(text, at):
            shown.append(_mark(character))
        else:
            shown.append(character)
    return "".join(shown)


def strip_for_title(text: str, most: int = 80) -> str:
    """A short single line for a window title or a notification, at most `most` characters."""
    line = visible(text).strip()
    return line if len(line) <= most else line[: most - 1] + "…"


def _hides(text: str, at: int) -> bool:
    character = text[at]
    if character in SELECTORS:
        return at == 0 or not _plain(text[at - 1])
    if character in JOINERS:
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if before in SELECTORS:
            before = text[max(0, at - 2) : at - 1]
        return not (_joinable(before) and _joinable(after))
    return not _plain(character)


def _joinable(character: str) -> bool:
    """Not ASCII and not hidden itself: what an emoji sequence or a joining script is made of."""
    return bool(character) and not character.isascii() and character not in SELECTORS and _plain(character)


def _plain(character: str) -> bool:
    """Whether it shows as itself. Unassigned ones may be newer emoji and stay, but for the ranges that are never drawn."""
    code = ord(character)
    if character in SELECTORS or character in HIDDEN_LETTERS:
        return False
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF or 0xFFF0 <= code <= 0xFFF8 or 0xE0000 <= code <= 0xE0FFF:
        return False
    return code != 0x2065 and (category(character) not in UNPRINTED or character in SHOWN_FORMATS)


def _mark(character: str) -> str:
    code = ord(character)
    return f"<{code:02x}>" if code < 0x100 and code != 0xAD else f"<u+{code:04x}>"
