"""The read commands: one each, the same rows for people and for scripts."""

from __future__ import annotations

from typing import Any

import click

from loopx_engine.cli.output import print_json

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
    "findings": "What needs recovery.",
}
LIMITED = frozenset({"list", "history", "search", "inbox"})
AS = frozenset({"next", "why"})


def read_command(name: str) -> click.Command:
    """The command of a read."""
    params: list[click.Parameter] = [
        click.Argument([argument], required=required) for argument, required in ARGUMENTS[name]
    ]
    if name in LIMITED:
        params.append(click.Option(["--limit"], type=click.IntRange(1, 1000), default=50, help="how many rows at most"))
    if name in AS:
        params.append(click.Option(["--as", "actor"], help="as this actor sees it"))
    params.append(click.Option(["--json", "as_json"], is_flag=True, help="one JSON object"))

    def run(as_json: bool, **given: Any) -> int | None:
        from loopx_engine.cli.caller import caller

        answer = caller().read(name, **{key: value for key, value in given.items() if value is not None})
        if as_json:
            print_json(name, answer)
        else:
            from loopx_engine.cli.people import print_read

            print_read(name, answer)
        return 9 if name == "findings" and answer["items"] else None

    return click.Command(name, callback=run, params=params, help=HELP[name])
