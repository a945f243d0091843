"""A value in words: no raw structure, no `None`; instants as this machine's clock shows them, ids by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopx_engine.desk.when import age, moment

EMPTY: tuple[Any, ...] = (None, "", [], {})
TIMES = ("_at", "_since")
INSTANTS = frozenset({"at", "expires", "deadline", "due", "until", "snoozed_until"})
LENGTHS = frozenset({"timeout", "every"})


def said(name: str, value: Any, names: Mapping[str, str]) -> str:
    """The value of the field `name`; `names` maps ids to what a person calls them."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{label(key)} {said(key, item, names)}" for key, item in value.items() if item not in EMPTY)
    if isinstance(value, list | tuple):
        return ", ".join(_item(name, item, names) for item in value)
    if isinstance(value, int) and (name in INSTANTS or name.endswith(TIMES)):
        return moment(value, seconds=True)
    if isinstance(value, int) and name in LENGTHS:
        return age(value)
    if isinstance(value, int) and name.endswith("cost"):
        return f"{value / 1_000_000:.2f}"
    return names.get(value, value) if isinstance(value, str) else str(value)


def given(arguments: Mapping[str, Any]) -> list[str]:
    """Arguments as `name value`, the empty ones left out."""
    return [f"{label(name)} {said(name, value, {})}" for name, value in arguments.items() if value not in EMPTY]


def label(name: str) -> str:
    """A field's name as a person writes it."""
    return name.replace("_", " ")


def _item(name: str, item: Any, names: Mapping[str, str]) -> str:
    if isinstance(item, list | tuple):
        return " ".join(str(part) for part in item)
    return said(name, item, names)
