"""One click command for each verb of the table, made from its command's fields."""

from __future__ import annotations

from typing import Any

import click

from loopx_engine.cli.running import run_verb
from loopx_engine.commands.fields import Spec, specs
from loopx_engine.commands.verbs import verb_of
from loopx_engine.desk.typed import ARGV_FIELDS, typed
from loopx_engine.errors import UsageError

BUILT_RUNTIMES = ("command",)


def verb_command(name: str) -> click.Command:
    """The command `loopx NOUN VERB` of a verb."""
    verb = verb_of(name)
    cls = verb.load()
    params = [
        _param(field_name, str(item.type), spec)
        for field_name, (item, spec) in specs(cls).items()
        if spec.form != "hidden"
    ]
    params += EXTRA.get(name, list)()
    params += [dry_run_option(), command_id_option(), json_option()]

    def run(dry_run: bool, command_id: str | None, as_json: bool, **given: Any) -> int | None:
        arguments = arguments_from(cls, given, name)
        if name == "goal add":
            from loopx_engine.cli.projects import project_arguments, project_here

            arguments["project"] = project_here(given["project_dir"], enter=not dry_run)
            if not arguments["project"]:
                return run_verb("project add", project_arguments(given["project_dir"]), dry_run=True, as_json=as_json)
        return run_verb(name, arguments, dry_run=dry_run, command_id=command_id or "", as_json=as_json)

    short = name.partition(" ")[2] or name
    return click.Command(short, callback=run, params=params, help=_help(cls, verb.authority), short_help=verb.help)


def dry_run_option() -> click.Option:
    """`--dry-run`, the same on every command that writes."""
    return click.Option(["--dry-run"], is_flag=True, help="show what would change, and change nothing")


def command_id_option() -> click.Option:
    """`--command-id`, for callers that must be able to repeat a call."""
    return click.Option(["--command-id"], help="a repeat with the same id changes nothing")


def json_option() -> click.Option:
    """`--json`, the same on every command."""
    return click.Option(["--json", "as_json"], is_flag=True, help="one JSON object")


def arguments_from(cls: Any, given: dict[str, Any], name: str) -> dict[str, Any]:
    """The command's arguments from what click parsed; options that were not given are left out."""
    found: dict[str, Any] = {}
    for field_name, (item, spec) in specs(cls).items():
        if spec.form == "hidden" or field_name not in given:
            continue
        value = given[field_name]
        if value is None or value == ():
            continue
        found[field_name] = typed(field_name, str(item.type), value)
    prepare = PREPARE.get(name)
    return dict(prepare(found, given)) if prepare else found


def _param(name: str, annotation: str, spec: Spec) -> click.Parameter:
    base = annotation.removesuffix(" | None")
    if spec.form == "argument":
        return click.Argument([name], metavar=name.upper())
    flag = f"--{name.replace('_', '-')}"
    if base == "bool":
        if annotation != base:
            return click.Option([f"{flag}/--no-{name}", name], default=None, help=spec.help)
        return click.Option([flag, name], is_flag=True, help=spec.help)
    many = base.startswith("tuple[") and not (name in ARGV_FIELDS and base == "tuple[str, ...]")
    kind: Any = int if base in ("int", "tuple[int, ...]") and name != "until" else str
    if base == "int" and name == "uses":
        kind = click.IntRange(min=1)
    words = "when that ends, like 24h, 3d or 2027-01-31T18:00" if name == "until" else spec.help
    choice = click.Choice(spec.choices) if spec.choices else kind
    return click.Option([flag, name], multiple=many, type=choice, default=None, help=words)


def _help(cls: Any, authority: tuple[str, ...]) -> str:
    said = {"signed": "signed with the owner's key", "person": "a person", "agent": "an agent with its token"}
    who = ", ".join(said[item] for item in authority if item in said)
    return f"{cls.__doc__}\n\nBy: {who}."


def _project_option() -> list[click.Parameter]:
    return [click.Option(["--project", "project_dir"], help="the project's directory (this one)")]


def _built_runtime(arguments: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    runtime = arguments.get("runtime")
    if runtime and runtime not in BUILT_RUNTIMES:
        raise UsageError(
            f"the runtime '{runtime}' is not built yet; what exists: {', '.join(BUILT_RUNTIMES)}, "
            "or no runtime for an agent that comes by itself",
            code="not_built",
            next='loopx actor add NAME --kind agent --runtime command --argv "ARGV"',
        )
    return arguments


def _timed(arguments: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """`--wait at:TIME` as people write times."""
    wait = arguments.get("wait") or ""
    if not wait.startswith("at:"):
        return arguments
    from loopx_engine.desk.when import parse_when

    return {**arguments, "wait": f"at:{parse_when(wait.removeprefix('at:'))}"}


def _resolved(arguments: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The project of a directory as it really is: its root, identity and remotes."""
    from loopx_engine.cli.projects import project_arguments

    return project_arguments(arguments["root"])


EXTRA: dict[str, Any] = {"goal add": _project_option}
PREPARE: dict[str, Any] = {
    "actor add": _built_runtime,
    "todo add": _timed,
    "todo edit": _timed,
    "project add": _resolved,
}
