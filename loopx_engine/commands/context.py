"""Context: what a command may know beyond the ledger, all of it handed in: who, when, and facts the rim measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from loopx_engine.model.decision import Decision
from loopx_engine.model.grant import Grant
from loopx_engine.model.identity import Identity


@dataclass(slots=True)
class Context:
    """`trusted` says whether a decision's or grant's signature verifies now; `proof` is the signed act of this command.

    `token` makes a new (token, hash); `sandbox` is the box of this machine; `busy_places` have a live process that no
    live turn owns. `reveal` holds answers that are shown once and never stored (tokens).
    """

    who: Identity
    now: int
    trusted: Callable[[Decision | Grant], bool]
    token: Callable[[Literal["actor", "turn"]], tuple[str, str]]
    sandbox: str = "none"
    busy_places: tuple[str, ...] = ()
    proof: dict[str, Any] | None = None
    reveal: dict[str, str] = field(default_factory=dict)
