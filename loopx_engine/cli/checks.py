"""`loopx check set SUBJECT ARGV`."""

from __future__ import annotations

from typing import Any

import click

from loopx_engine.cli.running import run_verb
from loopx_engine.cli.verbs import command_id_option, dry_run_option, json_option
from loopx_engine.desk.typed import split_argv


def check_set() -> click.Command:
    """One argv string, split once by shlex; the rest are options of the verb."""

    @click.command("set", help="Set the check of a todo, criterion or goal; signed with the owner's key.")
    @click.argument("subject")
    @click.argument("argv")
    @click.option("--timeout", type=click.IntRange(min=1), help="milliseconds before it counts as failed")
    @click.option("--input", multiple=True, help="a glob of files it depends on (none: the whole tree)")
    @click.option("--protects", multiple=True, help="a glob of files whose change needs a review")
    @click.option("--network", is_flag=True, help="let it reach the network")
    def command(
        subject: str, argv: str, dry_run: bool, command_id: str | None, as_json: bool, **given: Any
    ) -> int | None:
        options = {key: list(v) if isinstance(v, tuple) else v for key, v in given.items() if v}
        arguments = {"subject": subject, "argv": split_argv(argv), **options}
        return run_verb("check set", arguments, dry_run=dry_run, as_json=as_json, command_id=command_id or "")

    command.params += [dry_run_option(), command_id_option(), json_option()]
    return command
