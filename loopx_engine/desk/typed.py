"""What a person typed, as the arguments of a command: argv strings split once, criteria with their check, times in words."""

from __future__ import annotations

import shlex
from typing import Any

from loopx_engine.errors import UsageError

ARGV_FIELDS = frozenset({"check", "argv"})


def typed(name: str, annotation: str, value: Any) -> Any:
    """The value of a command's field, whose annotation is `annotation`, from its words. Raises `UsageError`."""
    base = annotation.removesuffix(" | None")
    if name in ARGV_FIELDS and base == "tuple[str, ...]":
        return split_argv(value)
    if name == "criterion" and base.startswith("tuple[tuple["):
        return [split_criterion(item) for item in value]
    if base.startswith("tuple[tuple["):
        return [split_argv(item) for item in value]
    if name == "until" and base == "int":
        from loopx_engine.desk.when import parse_when

        return parse_when(value)
    return list(value) if isinstance(value, tuple) else value


def split_argv(text: str) -> list[str]:
    """One command line split once by shlex, never given to a shell."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"'{text[:60]}' cannot be split into words: {error}", code="bad_argument") from error
    if not words:
        raise UsageError("a command line is empty; expected a program and its arguments", code="empty")
    return words


def split_criterion(text: str) -> tuple[str, tuple[str, ...]]:
    """A criterion and its check, bound by the last ` :: `."""
    words, mark, argv = text.rpartition(" :: ")
    return (words.strip(), tuple(split_argv(argv))) if mark else (text.strip(), ())
