"""The two calls agents and scripts make most, in their plain forms, without the parser: it costs more than they do.

Only what the parser would read in exactly the same way is taken; every other form (`None`) is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NEXT = {"--as": "actor"}
TODO = {
    "--body": "body",
    "--kind": "kind",
    "--needs": "needs",
    "--scope": "scope",
    "--serves": "serves",
    "--wait": "wait",
}
MANY = frozenset({"needs", "scope", "serves"})
KINDS = frozenset({"work", "watch", "review"})


def answered(given: Sequence[str]) -> int | None:
    """The exit code of a call that was plain enough, or None: nothing happened yet."""
    if given[0] == "next" and "--json" in given:
        found = plain(given[1:], NEXT, 0, 1)
        return None if found is None else _next(found)
    if tuple(given[:2]) == ("todo", "add"):
        found = plain(given[2:], TODO, 2, 2)
        return None if found is None else _todo_add(found)
    return None


def plain(words: Sequence[str], options: dict[str, str], least: int, most: int) -> dict[str, Any] | None:
    """`places`, `json` and the options by field name; None for any word whose meaning is not certain."""
    found: dict[str, Any] = {"places": [], "json": False}
    rest = iter(words)
    for word in rest:
        if word == "--json":
            found["json"] = True
        elif word in options:
            value = next(rest, "-")
            if value.startswith("-"):
                return None
            name = options[word]
            if name in MANY:
                found.setdefault(name, []).append(value)
            else:
                found[name] = value
        elif word.startswith("-"):
            return None
        else:
            found["places"].append(word)
    return found if least <= len(found["places"]) <= most else None


def _next(found: dict[str, Any]) -> int:
    from loopx_engine.cli.caller import caller
    from loopx_engine.cli.output import print_json

    arguments = {"actor": found["actor"]} if "actor" in found else {}
    if found["places"]:
        arguments["goal"] = found["places"][0]
    print_json("next", caller().read("next", **arguments))
    return 0


def _todo_add(found: dict[str, Any]) -> int | None:
    from loopx_engine.cli.running import run_verb

    arguments = {name: value for name, value in found.items() if name not in ("places", "json")}
    arguments["goal"], arguments["title"] = found["places"]
    if arguments.get("kind", "work") not in KINDS or arguments.get("wait", "").startswith("at:"):
        return None
    if "serves" in arguments:
        if not all(item.isascii() and item.isdigit() for item in arguments["serves"]):
            return None
        arguments["serves"] = [int(item) for item in arguments["serves"]]
    return run_verb("todo add", arguments, as_json=found["json"]) or 0
