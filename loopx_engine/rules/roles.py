"""Roles: which person may answer what. A channel acts as its person, capped at decider and medium."""

from __future__ import annotations

from loopx_engine.model.actor import ROLES, Role
from loopx_engine.model.decision import RISKS, Risk

ANSWERS: dict[Role, Risk | None] = {"": None, "observer": None, "operator": None, "decider": "medium", "owner": "high"}


def may_answer(role: Role, risk: Risk, *, channel: bool = False) -> bool:
    """Whether a person of this role may answer a decision of this risk."""
    most = ANSWERS[role]
    if channel and most == "high":
        most = "medium"
    return most is not None and RISKS.index(risk) <= RISKS.index(most)


def at_least(role: Role, needed: Role) -> bool:
    """Whether a role includes another."""
    return role in ROLES and ROLES.index(role) >= ROLES.index(needed)
