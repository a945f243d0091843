"""The read commands: one each, the same rows for people and for scripts."""

from __future__ import annotations

import os
from typing import Any

import click

from loopx_engine.cli.output import print_json
from loopx_engine.cli.verbs import json_option

ARGUMENTS: dict[str, tuple[tuple[str, bool], ...]] = {
    "next": (("goal", False),),
    "show": (("id", True),),
    "list": (("noun", True), ("goal", False)),
    "why": (("id", True),),
    "history": (("id", False),),
    "search": (("text", True),),
    "inbox": (),
    "status": (),
    "findings": (),
}
HELP = {
    "next": "Who acts next on a goal, and why.",
    "show": "One thing by its id, with what belongs to it.",
    "list": "The things of a kind.",
    "why": "Why something is where it is.",
    "history": "The newest receipts.",
    "search": "Find words in titles, bodies, questions, messages and evidence.",
    "inbox": "Decisions and findings that wait for a person.",
    "status": "Needs you, running, next look, broken.",
    "findings": "What needs recovery; exit 9 where there is something.",
}
LIMITED = frozenset({"list", "history", "search", "inbox"})
HERE = frozenset({"status", "inbox"})


def read_command(name: str) -> click.Command:
    """The command of a read."""
    params: list[click.Parameter] = [
        click.Argument([argument], required=required) for argument, required in ARGUMENTS[name]
    ]
    if name == "list":
        params.append(click.Option(["--goal", "of_goal"], help="of this goal only"))
    if name in LIMITED:
        params.append(click.Option(["--limit"], type=click.IntRange(1, 1000), default=50, help="how many rows at most"))
    params.append(click.Option(["--as", "actor"], help="as this actor sees it, by id or name"))
    params.append(json_option())

    def run(as_json: bool, **given: Any) -> int | None:
        answer = read(name, given)
        if as_json:
            print_json(name, answer)
        else:
            from loopx_engine.cli.people import print_read

            print_read(name, answer)
        return 9 if name == "findings" and answer["items"] else None

    return click.Command(name, callback=run, params=params, help=HELP[name])


def read(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """One read with what only this side knows: the current directory, and whether an engine runs."""
    from loopx_engine.cli.caller import caller

    found = caller()
    arguments = {key: value for key, value in given.items() if value is not None}
    of_goal = arguments.pop("of_goal", None)
    if of_goal is not None:
        arguments["goal"] = of_goal
    if name in HERE:
        arguments["here"] = _directory()
    answer = found.read(name, **arguments)
    if name == "status":
        from loopx_engine.cli.local import LocalCaller
        from loopx_engine.desk.background import engine_runs
        from loopx_engine.desk.opening import engine_lock

        answer = {**answer, "engine": not isinstance(found, LocalCaller) or engine_runs(engine_lock(os.environ))}
    return answer


def _directory() -> str:
    """The current directory without its links; empty where it is gone."""
    try:
        return os.path.realpath(os.getcwd())
    except OSError:
        return ""
