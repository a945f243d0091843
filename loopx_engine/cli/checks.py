"""`loopx check set SUBJECT ARGV`."""

from __future__ import annotations

from typing import Any

import click


def check_set() -> click.Command:
    """One argv string, split once by shlex; the rest are options of the verb."""

    @click.command("set", help="Set the check of a todo, criterion or goal; signed with the owner's key.")
    @click.argument("subject")
    @click.argument("argv")
    @click.option("--timeout", type=int, help="milliseconds before it counts as failed")
    @click.option("--input", multiple=True, help="a glob of files it depends on (none: the whole tree)")
    @click.option("--protects", multiple=True, help="a glob of files whose change needs a review")
    @click.option("--network", is_flag=True, help="let it reach the network")
    @click.option("--dry-run", is_flag=True, help="show what would change, and change nothing")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(subject: str, argv: str, dry_run: bool, as_json: bool, **given: Any) -> int | None:
        from loopx_engine.cli.verbs import run_verb, split_argv

        options = {key: list(v) if isinstance(v, tuple) else v for key, v in given.items() if v}
        return run_verb(
            "check set", {"subject": subject, "argv": split_argv(argv), **options}, dry_run=dry_run, as_json=as_json
        )

    return command
