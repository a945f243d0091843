"""Goal: a durable intention, with the budgets that bound it and the signed plan that makes it its owner's."""

from __future__ import annotations

from typing import ClassVar, Literal

from loopx_engine.model.defaults import BUDGET_DAYS, BUDGET_TURNS
from loopx_engine.model.place import PlaceKind
from loopx_engine.model.record import noun

Preset = Literal["careful", "normal", "unattended"]
PRESETS: tuple[Preset, ...] = ("careful", "normal", "unattended")


@noun
class Goal:
    """`revision` grows with every change of what is wanted, `generation` with every pause and stop.

    `plan` is the signed digest of objective, criteria and todos (empty: never signed). `budget_cost` is in millionths.
    `stopped` is a pause that also ended what ran.
    """

    KIND: ClassVar[str] = "goal"
    id: str
    title: str
    objective: str = ""
    project: str
    place_kind: PlaceKind = "worktree"
    phase: str = "draft"
    priority: int = 2
    revision: int = 1
    generation: int = 1
    autonomy: Preset = "normal"
    agents: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    check: str | None = None
    network: bool = True
    budget_turns: int = BUDGET_TURNS
    budget_days: int = BUDGET_DAYS
    budget_tokens: int | None = None
    budget_cost: int | None = None
    plan: str = ""
    created_by: str
    created_at: int
    active_since: int | None = None
    ended_at: int | None = None
    stopped: bool = False
    note: str = ""
