"""Verbs of a noun that are more than one engine command: keys, an agent's two calls, proposals, set-up, checks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import click


def _lazy(home: str) -> Callable[[], click.Command]:
    def make() -> click.Command:
        module, _, function = home.partition(":")
        made: click.Command = getattr(import_module(f"loopx_engine.cli.{module}"), function)()
        return made

    return make


SPECIAL: dict[str, Callable[[], click.Command]] = {
    "owner init": _lazy("owner:owner_init"),
    "owner protect": _lazy("owner:owner_protect"),
    "owner rotate": _lazy("owner:owner_rotate"),
    "turn begin": _lazy("turns:turn_begin"),
    "turn finish": _lazy("turns:turn_finish"),
    "plan show": _lazy("plans:plan_show"),
    "plan accept": _lazy("plans:plan_accept"),
    "project setup": _lazy("setup:project_setup"),
    "project check": _lazy("setup:project_check"),
    "decision answer": _lazy("answering:answer"),
    "check set": _lazy("checks:check_set"),
    "decision propose": _lazy("plans:decision_propose"),
    "stop": _lazy("stopping:stop"),
    "undo": _lazy("stopping:undo"),
}
