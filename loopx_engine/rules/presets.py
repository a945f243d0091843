"""The presets of a goal's autonomy as a table: what a turn may do unasked, in a sandbox and without one."""

from __future__ import annotations

from loopx_engine.model.goal import Preset
from loopx_engine.model.grant import Answer, PermissionKind

INSIDE: dict[tuple[Preset, bool], dict[PermissionKind, Answer]] = {
    ("careful", True): {"read": "allow"},
    ("careful", False): {"read": "allow"},
    ("normal", True): {"read": "allow", "write": "allow", "exec": "allow"},
    ("normal", False): {"read": "allow", "write": "allow"},
    ("unattended", True): {"read": "allow", "write": "allow", "exec": "allow"},
    ("unattended", False): {"read": "allow", "write": "allow"},
}
CONTINUES_LOST: frozenset[Preset] = frozenset({"unattended"})


def preset_answer(
    preset: Preset, kind: PermissionKind, *, sandboxed: bool, inside_place: bool, network: bool, declared: bool
) -> Answer:
    """What the preset says of an act; outside the place nothing is allowed unasked."""
    if kind == "network":
        return "allow" if network and preset != "careful" else "ask"
    if not inside_place:
        return "ask"
    if kind == "exec" and declared and preset != "careful":
        return "allow"
    return INSIDE[(preset, sandboxed)].get(kind, "ask")


def continues_lost_turns(preset: Preset) -> bool:
    """Whether a lost turn is taken up again without a person."""
    return preset in CONTINUES_LOST
