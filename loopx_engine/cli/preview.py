"""`--dry-run`: exactly what a command would change, its risk, and the basis a confirmation quotes."""

from __future__ import annotations

from typing import Any

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.errors import Refused
from loopx_engine.model.record import values

UNTOLD = frozenset({"token_hash", "proof"})


def print_preview(found: Any, verb: str, arguments: dict[str, Any], *, as_json: bool) -> None:
    """Prints the preview of a verb; nothing is changed."""
    if not hasattr(found, "preview"):
        raise Refused("a preview is for persons", code="inside_turn", next="loopx show ID")
    preview = found.preview(verb, arguments)
    changes = [_told(values(change)) for change in preview.changes]
    print_plan(
        verb,
        preview.arguments,
        changes,
        as_json=as_json,
        risk=preview.risk,
        authority=list(preview.authority),
        basis=preview.basis,
        expires=preview.expires,
    )


def print_plan(
    verb: str,
    arguments: dict[str, Any],
    changes: list[dict[str, Any]],
    *,
    as_json: bool,
    risk: str = "low",
    authority: list[str] | None = None,
    basis: str = "",
    expires: int | None = None,
    acts: list[str] | None = None,
) -> None:
    """A preview in its one form, also of acts outside the ledger (`acts`, in sentences)."""
    if as_json:
        body = {"verb": verb, "risk": risk, "authority": authority or ["person"], "basis": basis, "expires": expires}
        print_json("preview", {**body, "arguments": arguments, "acts": acts or [], "changes": changes})
        return
    print_line(f"{verb} would change ({risk} risk, {' or '.join(authority or ['person'])}):")
    for act in acts or []:
        print_line(f"  {act}")
    for change in changes:
        if change["kind"] != "wake":
            _change(change)
    print_line("nothing was changed" + (f"   basis {basis[:16]}" if basis else ""))


def _change(change: dict[str, Any]) -> None:
    if change["before"] is None:
        named = (change["after"] or {}).get("title") or (change["after"] or {}).get("name") or ""
        print_line(f"  + {change['kind']} {change['id']}  {named}".rstrip())
        return
    for name, after in (change["after"] or {}).items():
        label = f"{change['kind']} {change['id']}  {name.replace('_', ' ')}"
        print_line(f"  {label}: {_short(name, change['before'].get(name))} -> {_short(name, after)}")


def _told(change: dict[str, Any]) -> dict[str, Any]:
    """A change without hashes of tokens and signatures."""
    halves = {name: _without(change[name]) for name in ("before", "after")}
    return {**change, **halves}


def _without(row: Any) -> Any:
    return {name: value for name, value in row.items() if name not in UNTOLD} if isinstance(row, dict) else row


def _short(name: str, value: Any) -> str:
    from loopx_engine.cli.words import said

    text = said(name, value, {}) or "nothing"
    return text if len(text) <= 60 else text[:57] + "..."
