"""The words a record is found by, and the query a person's words become."""

from __future__ import annotations

from typing import Any

FIELDS: dict[str, tuple[str, ...]] = {
    "goal": ("title", "objective"),
    "criterion": ("text",),
    "todo": ("title", "body"),
    "decision": ("question", "why", "reason", "answer_text"),
    "message": ("text",),
    "evidence": ("ref",),
    "turn": ("summary",),
}
WORDS = 12


def words_of(kind: str, row: dict[str, Any]) -> str:
    """The searched text of a row; empty where the kind has none."""
    return "\n".join(str(row[name]) for name in FIELDS.get(kind, ()) if row.get(name))


def touches(kind: str, change: dict[str, Any]) -> bool:
    """Whether changed fields are among the searched ones."""
    return any(name in change for name in FIELDS.get(kind, ()))


def match(text: str) -> str:
    """An FTS query that takes every word literally; the last one also as a beginning."""
    words = [word.replace('"', '""') for word in text.replace("\0", " ").split()[:WORDS]]
    return " ".join(f'"{word}"' for word in words[:-1]) + (f' "{words[-1]}"*' if words else '""')
