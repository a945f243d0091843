"""Check: an argv list the engine runs to prove something. Who set it, and when, decides what it can prove."""

from __future__ import annotations

from typing import ClassVar, Literal

from loopx_engine.model.defaults import CHECK_TIMEOUT_MS
from loopx_engine.model.record import noun

CheckRole = Literal["goal", "guard"]


@noun
class Check:
    """`baseline` is `unknown`, `red`, `green` or `cannot run` on the base commit; `inputs` globs (empty: the whole tree).

    `role` follows from the baseline: `goal` must turn from red, `guard` must stay green. `protects` are globs of the
    files whose change by the executor needs a review.
    """

    KIND: ClassVar[str] = "check"
    id: str
    goal: str
    argv: tuple[str, ...]
    cwd: str = "."
    timeout: int = CHECK_TIMEOUT_MS
    inputs: tuple[str, ...] = ()
    protects: tuple[str, ...] = ()
    network: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    set_by: str
    set_at: int
    baseline: str = "unknown"
    baseline_tail: str = ""
    role: CheckRole = "goal"
    state: str = "set"
