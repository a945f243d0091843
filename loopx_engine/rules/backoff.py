"""Back-off: a verdict's class, and when the goal is looked at again. Doubling with a cap; nothing polls fast for ever."""

from __future__ import annotations

import hashlib

from loopx_engine.model.defaults import BACKOFF_FIRST_STEP_MS, BACKOFF_MS

OTHERS = frozenset({"held_by_other", "proving", "planning"})
ESCALATE_AFTER = 12


def pace_of(kind: str, reason: str) -> str:
    """`work`, `person`, `others` or `idle`."""
    if kind in ("work", "review", "plan", "replan", "watch", "answer", "resume"):
        return "work"
    if kind == "ask":
        return "person"
    return "others" if reason in OTHERS else "idle"


def next_due(pace: str, repeats: int, now: int, seed: str = "") -> int:
    """UTC ms of the next look: the class's first step doubled with each repeat, capped, with up to a tenth of jitter by seed."""
    first, most = BACKOFF_MS[pace]
    doublings = min(repeats, 40)
    step = min(first << doublings if first or not repeats else BACKOFF_FIRST_STEP_MS << (doublings - 1), most)
    spread = int.from_bytes(hashlib.sha256(f"{seed}:{repeats}".encode()).digest()[:4], "big") % 1000
    return now + step + step * spread // 10_000


def escalates(repeats: int) -> bool:
    """Whether the same verdict came so often, on an unchanged frontier, that a person should know."""
    return repeats == ESCALATE_AFTER
