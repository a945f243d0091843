"""The query of `/`: words that must all be there, `field:value`, and `!` before either for its opposite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Term:
    """`field` is empty for a word that may stand anywhere."""

    text: str
    field: str = ""
    negated: bool = False


Query = tuple[Term, ...]


def parse(text: str) -> Query:
    """The query a person typed. Anything is a query; what has no sense simply matches nothing."""
    terms = []
    for said in text.split():
        negated = len(said) > 1 and said.startswith("!")
        word = said[1:] if negated else said
        name, mark, value = word.partition(":")
        named = bool(mark and value and name.isidentifier())
        terms.append(Term(value if named else word, name if named else "", negated))
    return tuple(terms)


def render(query: Query) -> str:
    """The query as it would be typed."""
    return " ".join(
        f"{'!' if term.negated else ''}{term.field + ':' if term.field else ''}{term.text}" for term in query
    )


def matches(query: Query, item: dict[str, Any]) -> bool:
    """Whether an item meets every term. Case does not matter."""
    return all(_meets(term, item) != term.negated for term in query)


def kept(query: Query, items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items that meet the query, in their order."""
    return [item for item in items if matches(query, item)] if query else list(items)


def _meets(term: Term, item: dict[str, Any]) -> bool:
    wanted = term.text.casefold()
    if term.field:
        return any(wanted in said for name, said in _said(item) if name == term.field.casefold())
    return any(wanted in said for _, said in _said(item))


def _said(item: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for name, value in item.items():
        for part in value if isinstance(value, list | tuple) else (value,):
            if isinstance(part, str | int) and not isinstance(part, bool):
                yield name, str(part).casefold()
