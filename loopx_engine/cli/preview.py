"""`--dry-run`: exactly what a command would change, its risk, and the basis a confirmation quotes."""

from __future__ import annotations

from typing import Any

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.errors import Refused
from loopx_engine.model.record import values


def print_preview(found: Any, verb: str, arguments: dict[str, Any], *, as_json: bool) -> None:
    """Prints the preview of a verb; nothing is changed."""
    if not hasattr(found, "preview"):
        raise Refused("a preview is for persons", code="inside_turn", next="loopx show ID")
    preview = found.preview(verb, arguments)
    if as_json:
        print_json(
            "preview",
            {
                "verb": verb,
                "risk": preview.risk,
                "authority": list(preview.authority),
                "basis": preview.basis,
                "expires": preview.expires,
                "arguments": preview.arguments,
                "changes": [values(change) for change in preview.changes],
            },
        )
        return
    print_line(f"{verb} would change ({preview.risk} risk, {' or '.join(preview.authority)}):")
    for change in preview.changes:
        if change.kind == "wake":
            continue
        if change.before is None:
            print_line(f"  + {change.kind} {change.id}")
            continue
        for name, after in (change.after or {}).items():
            print_line(f"  {change.kind} {change.id}  {name}: {_short(change.before.get(name))} -> {_short(after)}")
    print_line(f"basis {preview.basis[:16]}   nothing was changed")


def _short(value: Any) -> str:
    if value is None or value == "" or value == []:
        return "nothing"
    text = ", ".join(str(item) for item in value) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
