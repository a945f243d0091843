"""Budgets: finite, and counted by what is known. Unknown usage is never taken for zero: turns and days bound it."""

from __future__ import annotations

from collections.abc import Mapping

from loopx_engine.model.defaults import DAY
from loopx_engine.model.goal import Goal


def exceeded(goal: Goal, spent: Mapping[str, int | None], now: int) -> tuple[str, int, int] | None:
    """(unit, used, limit) of the first budget that is used up, or None. `spent` has turns, tokens, cost."""
    days = 0 if goal.active_since is None else max(0, now - goal.active_since) // DAY
    rows: tuple[tuple[str, int | None, int | None], ...] = (
        ("turns", spent.get("turns"), goal.budget_turns),
        ("days", days, goal.budget_days),
        ("tokens", spent.get("tokens"), goal.budget_tokens),
        ("cost", spent.get("cost"), goal.budget_cost),
    )
    for unit, used, limit in rows:
        if limit is not None and used is not None and used >= limit:
            return unit, used, limit
    return None
