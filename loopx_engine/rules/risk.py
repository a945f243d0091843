"""Risk: the engine's rule sets the least; whoever asks can only raise it."""

from __future__ import annotations

from collections.abc import Mapping

from loopx_engine.model.decision import RISKS, Risk
from loopx_engine.rules.patterns import WILD, matches

USUALLY_PROTECTED = ("main", "master", "trunk", "release", "production")
PREFIXES = ("", "refs/heads/")
OF_KIND: dict[str, Risk] = {
    "read": "low", "write": "medium", "exec": "medium", "network": "medium", "spend": "medium", "commit": "medium",
    "merge": "medium", "push": "medium", "close": "medium", "publish": "high", "production": "high", "secret": "high",
    "grant": "high",
}  # fmt: skip


def risk_of(kind: str, params: Mapping[str, object], protected: tuple[str, ...] = ()) -> Risk:
    """The least risk of an act. A push or merge to a protected or default branch is high; an unknown kind is high."""
    if kind in ("push", "merge"):
        ref = str(params.get("ref") or params.get("into") or "").removeprefix("refs/").removeprefix("heads/")
        odd = not ref or ref.startswith("+") or ":" in ref
        return "high" if kind == "push" and (odd or ref in protected or ref in USUALLY_PROTECTED) else "medium"
    return OF_KIND.get(kind, "high")


def risk_of_grant(kind: str, pattern: str, protected: tuple[str, ...] = ()) -> Risk:
    """A grant has the risk of the gravest act it covers: a glob over pushes that reaches a protected branch is high."""
    if kind != "push":
        return risk_of(kind, {}, protected)
    remote = pattern.partition("/")[0]
    remotes = ("origin",) if WILD & set(remote) else (remote,)
    refs = (*protected, *USUALLY_PROTECTED)
    reaches = any(matches(pattern, f"{name}/{prefix}{ref}") for name in remotes for ref in refs for prefix in PREFIXES)
    return "high" if reaches else "medium"


def raise_only(rule: Risk, asked: Risk) -> Risk:
    """The graver of two."""
    return rule if RISKS.index(rule) >= RISKS.index(asked) else asked
