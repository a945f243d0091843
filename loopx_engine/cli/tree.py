"""The words of `loopx`: groups and commands made from the verb table, each loaded only when it is called."""

from __future__ import annotations

import os
from typing import Any

import click

from loopx_engine.commands.verbs import TABLE
from loopx_engine.errors import LoopxError, UsageError

NOUNS = sorted(
    {verb.name.partition(" ")[0] for verb in TABLE if " " in verb.name and set(verb.authority) != {"engine"}}
)
READS = ("status", "inbox", "next", "show", "list", "why", "search", "history", "findings")
SINGLE = ("answer", "stop", "undo", "verify", "backup", "restore", "doctor", "follow", "diff")
GROUPS = {**{noun: f"{noun}: what can be done with one" for noun in NOUNS}, "plan": "plan: what is proposed for a goal"}
LATER = {
    "new": "loopx goal add TITLE, then loopx todo add and loopx goal resume",
    "report": "loopx show GOAL, loopx history GOAL",
    "drill": "loopx doctor, loopx verify",
    "uninstall": "loopx stop --all, then remove what loopx doctor names",
    "export": "loopx backup",
    "import": "loopx restore BACKUP",
    "schedule": "loopx todo add GOAL TITLE --wait at:24h",
    "channel": "loopx inbox, loopx answer DECISION OPTION",
    "watch": "loopx todo add GOAL TITLE --kind watch",
    "simulate": "--dry-run of any writing command",
    "digest": "loopx status, loopx history",
    "redact": "loopx history",
    "mcp": "loopx turn begin, loopx turn finish",
}
COMPLETION = "_LOOPX_COMPLETE"
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def call(given: list[str]) -> int:
    """Parses one call, runs it and returns its exit code. Raises the errors of `loopx_engine.errors`."""
    group = root()
    if COMPLETION in os.environ:
        group.main(args=given, prog_name="loopx")
    try:
        with group.make_context("loopx", given) as context:
            code = group.invoke(context)
            return code if isinstance(code, int) else 0
    except click.exceptions.Abort:
        raise UsageError("given up; nothing was changed", code="given_up") from None
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        raise usage(error, "loopx") from None


def usage(error: click.ClickException, program: str) -> LoopxError:
    """What click says about the words of a call, as our error."""
    if isinstance(error, click.FileError):
        return UsageError(error.format_message(), code="no_file", next=f"{program} --help")
    shown = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else program
    said = error.format_message()
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and error.ctx:
        names = (
            ", ".join(error.ctx.command.list_commands(error.ctx)) if isinstance(error.ctx.command, click.Group) else ""
        )
        said = f"{shown} needs a verb; expected one of {names}"
    return UsageError(said, next=f"{shown} --help")


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
        if name in LATER:
            raise not_built(name, LATER[name])
        return NounGroup(name, help=GROUPS[name]) if name in GROUPS else None


class NounGroup(click.Group):
    """`loopx NOUN VERB`: one command a verb of the table, and the few that are more than a verb."""

    def __init__(self, noun: str, **attributes: Any) -> None:
        super().__init__(noun, no_args_is_help=True, **attributes)
        self.noun = noun

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if any(word != "--json" for word in args) else [])

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


def not_built(name: str, instead: str) -> UsageError:
    """A word of the published interface whose room does not exist yet."""
    return UsageError(f"'{name}' is not built yet; what exists: {instead}", code="not_built", next="loopx --help")


def _authority(name: str) -> tuple[str, ...]:
    return next((verb.authority for verb in TABLE if verb.name == name), ("engine",))


def root() -> click.Group:
    """The whole command line."""
    group = LoopxGroup(
        "loopx",
        help="Keep goals, todos, permissions, evidence and decisions of agents in one ledger.\n\n"
        "Every command takes --json; every command that writes takes --dry-run.",
        context_settings=SETTINGS,
        no_args_is_help=True,
    )
    group.params.append(click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version))
    return group


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import PackageNotFoundError, version

        from loopx_engine.cli.output import print_line

        try:
            print_line(f"loopx {version('loopx-workspace')}")
        except PackageNotFoundError:
            print_line("loopx (not installed: run from its sources)")
        ctx.exit()
