"""Grant: a decision remembered. Its uses are counted from the receipts that cite it, never from a column."""

from __future__ import annotations

from typing import ClassVar, Literal

from loopx_engine.model.record import noun

PermissionKind = Literal[
    "read", "write", "exec", "network", "spend", "commit", "merge", "push", "publish", "production", "secret", "close",
    "grant",
]  # fmt: skip
PERMISSION_KINDS: tuple[PermissionKind, ...] = (
    "read", "write", "exec", "network", "spend", "commit", "merge", "push", "publish", "production", "secret", "close",
    "grant",
)  # fmt: skip
Answer = Literal["allow", "ask", "deny"]


@noun
class Grant:
    KIND: ClassVar[str] = "grant"
    id: str
    kind: PermissionKind
    pattern: str
    effect: Answer = "allow"
    goal: str | None = None
    expires: int
    uses: int
    state: str = "live"
    decision: str | None = None
    proof: dict[str, object] | None = None
    created_by: str
    created_at: int
