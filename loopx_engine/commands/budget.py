"""Budgets as people write them: `turns=N,days=N,tokens=N,cost=N`. Nothing, 0 and "unlimited" are refused."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from loopx_engine.errors import UsageError

UNITS = ("turns", "days", "tokens", "cost")
COST_UNIT = 1_000_000
MOST = 10**12


def parse_budget(text: str) -> dict[str, Any]:
    """Goal fields for a budget text; unnamed units keep their value. Raises `UsageError` (`bad_budget`)."""
    found: dict[str, Any] = {}
    for part in filter(None, (item.strip() for item in text.split(","))):
        unit, equals, amount = part.partition("=")
        if not equals or unit not in UNITS:
            raise _bad(part)
        found[f"budget_{unit}"] = _amount(unit, amount, part)
    if not found:
        raise _bad(text)
    return found


def _amount(unit: str, amount: str, part: str) -> int:
    try:
        value = Decimal(amount)
    except InvalidOperation:
        raise _bad(part) from None
    if not value.is_finite() or value <= 0 or value > MOST:
        raise _bad(part)
    scaled = value * COST_UNIT if unit == "cost" else value
    if scaled != int(scaled):
        raise _bad(part)
    return int(scaled)


def _bad(part: str) -> UsageError:
    return UsageError(
        f"'{part[:40]}' is no budget; expected like turns=50,days=7 with numbers above 0 (there is no unlimited)",
        code="bad_budget",
        next="loopx goal add --help",
    )
