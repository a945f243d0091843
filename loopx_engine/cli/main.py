"""The command `loopx`: groups and commands made from the verb table, each loaded only when it is called.

stdout is for data, stderr for errors and questions; exit codes are JOURNEYS.md 2.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from loopx_engine.cli.output import report_error, wants_json
from loopx_engine.commands.verbs import TABLE
from loopx_engine.errors import LoopxError

NOUNS = sorted({verb.name.partition(" ")[0] for verb in TABLE if " " in verb.name and set(verb.authority) != {"engine"}})
READS = ("next", "show", "list", "why", "history", "search", "inbox", "status", "findings")
SINGLE = ("answer", "stop", "undo", "verify", "backup", "restore", "doctor", "follow", "diff")
GROUPS = {
    **{noun: "the verbs of a " + noun for noun in NOUNS if noun not in ("ledger",)},
    "plan": "show and accept what is proposed for a goal",
}


class LoopxGroup(click.Group):
    """The root: a name is looked up in the verb table, never in a list of imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*READS, *SINGLE, *sorted(GROUPS)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in READS:
            from loopx_engine.cli.reads import read_command

            return read_command(name)
        if name in SINGLE:
            from loopx_engine.cli.single import single_command

            return single_command(name)
        return NounGroup(name, help=GROUPS[name]) if name in GROUPS else None


class NounGroup(click.Group):
    """`loopx NOUN VERB`: one command a verb of the table, and the few that are more than a verb."""

    def __init__(self, noun: str, **attributes: Any) -> None:
        super().__init__(noun, no_args_is_help=True, **attributes)
        self.noun = noun

    def list_commands(self, ctx: click.Context) -> list[str]:
        from loopx_engine.cli.special import SPECIAL

        made = [verb.name.partition(" ")[2] for verb in TABLE if verb.name.startswith(f"{self.noun} ")]
        plain = [name for name in made if set(_authority(f"{self.noun} {name}")) != {"engine"}]
        return sorted({*plain, *(name.partition(" ")[2] for name in SPECIAL if name.startswith(f"{self.noun} "))})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        from loopx_engine.cli.special import SPECIAL

        full = f"{self.noun} {name}"
        if full in SPECIAL:
            return SPECIAL[full]()
        if full not in {verb.name for verb in TABLE} or set(_authority(full)) == {"engine"}:
            return None
        from loopx_engine.cli.verbs import verb_command

        return verb_command(full)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.noun == "place" and args and args[0].startswith("g-"):
            from loopx_engine.cli.single import single_command

            return "place", single_command("place"), args
        return super().resolve_command(ctx, args)


def _authority(name: str) -> tuple[str, ...]:
    return next((verb.authority for verb in TABLE if verb.name == name), ("engine",))


def root() -> click.Group:
    """The whole command line."""
    group = LoopxGroup(
        "loopx",
        invoke_without_command=True,
        help="Keep goals, todos, permissions, evidence and decisions of agents in one ledger.",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )

    @group.command("version", hidden=True)
    def version() -> None:
        from importlib.metadata import version as installed

        click.echo(installed("loopx-workspace"))

    return group


def main(arguments: list[str] | None = None) -> int:
    """Runs one call and returns its exit code; never prints a traceback for an error of the caller."""
    given = sys.argv[1:] if arguments is None else arguments
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = root().main(args=given or ["status"], prog_name="loopx", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except LoopxError as error:
        return report_error(error, as_json=wants_json(given))
    except click.exceptions.Abort:
        click.echo("given up; nothing was changed", err=True)
        return 2
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        from loopx_engine.errors import UsageError

        shown = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "loopx"
        usage = UsageError(error.format_message(), next=f"{shown} --help")
        return report_error(usage, as_json=wants_json(given))
    except BrokenPipeError:
        sys.stderr.close()
        return 0


if __name__ == "__main__":
    raise SystemExit(main())
