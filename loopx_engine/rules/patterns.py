"""Patterns of permissions: globs over the one canonical text of an act. A line that is not one plain argv is never globbed."""

from __future__ import annotations

import shlex
from fnmatch import translate
from functools import lru_cache
from re import Pattern, compile

COMPOUND = frozenset(";|&$`<>()\n\r\0")
WILD = frozenset("*?[")


def plain_argv(line: str) -> tuple[str, ...] | None:
    """The argv of a shell line that is exactly one plain command; None for anything else."""
    if any(character in COMPOUND for character in line) or not line.isprintable():
        return None
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    return tuple(words) if words and "=" not in words[0] else None


def canonical_exec(argv: tuple[str, ...]) -> str:
    """The text of an argv as `shlex` writes it."""
    return shlex.join(argv)


def matches(pattern: str, text: str, *, plain: bool = True) -> bool:
    """Whether a pattern covers a text. What is not plain is covered by exactly itself only."""
    if pattern == text:
        return True
    return plain and bool(_compiled(pattern).match(text))


def specificity(pattern: str) -> tuple[int, int]:
    """Larger is more specific: an exact text first, then by the count of literal characters."""
    literal = sum(1 for character in pattern if character not in WILD)
    return (0 if any(character in WILD for character in pattern) else 1, literal)


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Pattern[str]:
    return compile(translate(pattern))
