"""Progress: the frontier of a goal changed since the last turn. Churn that returns to an earlier frontier is none."""

from __future__ import annotations

from collections.abc import Mapping

from loopx_engine.canonical import digest

REMEMBERED = 8


def frontier(
    *,
    goal: int,
    todos: Mapping[str, int],
    criteria: tuple[tuple[int, str], ...],
    evidence: int,
    decisions: Mapping[str, int],
    tree: str,
) -> str:
    """A short digest of todo and decision states by count, criteria, accepted evidence, the goal's revision and the tree."""
    return digest(
        {
            "goal": goal,
            "todos": dict(todos),
            "criteria": [list(item) for item in criteria],
            "evidence": evidence,
            "decisions": dict(decisions),
            "tree": tree,
        }
    )[:24]


def progressed(before: str, after: str, seen: tuple[str, ...]) -> bool:
    """Whether `after` is new: neither where the turn began nor where an earlier one ended."""
    return after != before and after not in seen


def remembered(seen: tuple[str, ...], frontier_now: str) -> tuple[str, ...]:
    """The last frontiers, the newest last."""
    return (*(item for item in seen if item != frontier_now), frontier_now)[-REMEMBERED:]
