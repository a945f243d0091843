"""Reads: the one form in which screens, the command line and boxed agents see the ledger. Nothing here writes.

Each read is a function `(view, **arguments) -> dict` of JSON values in a module of this package, loaded when it is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from loopx_engine.engine import Engine
from loopx_engine.errors import Refused, UsageError
from loopx_engine.model.identity import Identity
from loopx_engine.reading.view import View, view_of

READS: dict[str, str] = {
    "next": "ruling:next_verdict", "show": "records:show", "list": "records:list_records", "why": "reasons:why",
    "history": "journal:history", "search": "journal:search", "inbox": "waiting:inbox", "findings": "findings:findings",
    "status": "overview:status", "goals": "goals:goals", "card": "card:card", "todos": "todos:todos",
    "decision": "decision:decision",
}  # fmt: skip
NUMBERS = frozenset({"limit", "offset"})


def read_as(engine: Engine, who: Identity, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The read with this name, as `who` may see it; `actor` among the arguments: as that actor would.

    Raises `UsageError` (`unknown_read`, `bad_argument`), `Refused` (`other_goal`, `not_for_agents`), `NotFound`.
    """
    home = READS.get(name)
    if home is None:
        raise UsageError(f"there is no read '{name[:40]}'", code="unknown_read", next="loopx --help")
    module, _, function = home.partition(":")
    read = getattr(import_module(f"loopx_engine.reading.{module}"), function)
    given = dict(arguments)
    named = given.pop("actor", "")
    _check(name, read, given, named)
    if who.ended and (name, given.get("id")) != ("show", who.turn):
        raise Refused(f"turn {who.turn} has ended", code="turn_ended", next="loopx turn begin")
    found: dict[str, Any] = read(view_of(engine, who, named), **given)
    return found


def _check(name: str, read: Any, given: dict[str, Any], named: Any) -> None:
    """Arguments come from scripts and boxed agents as well: each is known, none missing, and of its type."""
    wrong = UsageError(f"wrong arguments for {name}", code="bad_argument", next=f"loopx {name} --help")
    code = read.__code__
    known = code.co_varnames[1 : code.co_argcount]
    needed = known[: len(known) - len(read.__defaults__ or ())]
    if not set(given) <= set(known) or not set(needed) <= set(given) or not isinstance(named, str):
        raise wrong
    for argument, value in given.items():
        if type(value) is not (int if argument in NUMBERS else str):
            raise wrong


__all__ = ["READS", "View", "read_as"]
