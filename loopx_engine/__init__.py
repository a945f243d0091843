"""LoopX keeps goals, todos, permissions, evidence and decisions of agents in one ledger, and decides what may happen next.

The public face: these names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_FACE = {
    "Answer": "loopx_engine.engine",
    "Desk": "loopx_engine.desk.desk",
    "Engine": "loopx_engine.engine",
    "Field": "loopx_engine.desk.forms",
    "Identity": "loopx_engine.model.identity",
    "LoopxError": "loopx_engine.errors",
    "Preview": "loopx_engine.engine",
    "TABLE": "loopx_engine.commands.verbs",
    "arguments_typed": "loopx_engine.desk.forms",
    "fields_of": "loopx_engine.desk.forms",
    "home": "loopx_engine.host.paths",
    "open_ledger": "loopx_engine.ledger.open",
    "read_as": "loopx_engine.reading",
    "visible": "loopx_engine.host.sanitiser",
}
__all__ = [*_FACE]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    home = _FACE.get(name)
    if home is None:
        raise AttributeError(f"loopx_engine has no {name}")
    return getattr(import_module(home), name)
