"""One click command for each verb of the table, made from its command's fields."""

from __future__ import annotations

import shlex
from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.commands.fields import Spec, specs
from loopx_engine.commands.verbs import verb_of
from loopx_engine.errors import UsageError

ARGV_FIELDS = frozenset({"check", "argv"})


def verb_command(name: str) -> click.Command:
    """The command `loopx NOUN VERB` of a verb."""
    verb = verb_of(name)
    cls = verb.load()
    params = [_param(field_name, str(item.type), item.default, spec) for field_name, (item, spec) in specs(cls).items() if spec.form != "hidden"]
    params += EXTRA.get(name, list)()
    params += [
        click.Option(["--dry-run"], is_flag=True, help="show what would change, and change nothing"),
        click.Option(["--command-id"], help="a repeat with the same id changes nothing"),
        click.Option(["--json", "as_json"], is_flag=True, help="one JSON object"),
    ]

    def run(dry_run: bool, command_id: str | None, as_json: bool, **given: Any) -> int | None:
        return run_verb(name, arguments_from(cls, given, name), dry_run=dry_run, command_id=command_id or "", as_json=as_json)

    short = name.partition(" ")[2] or name
    return click.Command(short, callback=run, params=params, help=_help(cls, verb.authority), short_help=verb.help)


def run_verb(
    name: str, arguments: dict[str, Any], *, dry_run: bool = False, command_id: str = "", as_json: bool = False
) -> int | None:
    """Runs or previews one verb and prints what came of it."""
    from loopx_engine.cli.caller import caller

    found = caller()
    if dry_run:
        from loopx_engine.cli.preview import print_preview

        return print_preview(found, name, arguments, as_json=as_json)
    outcome = found.run(name, arguments, command_id=command_id)
    shown = {**outcome.answer, **outcome.reveal}
    if as_json:
        print_json(name.replace(" ", "."), {"receipt": outcome.receipts[0], "receipts": list(outcome.receipts), **shown})
    else:
        print_line(in_words(name, shown, outcome.receipts))
        if "token" in shown:
            print_line(f"token (shown once): {shown['token']}")
    return 6 if name == "decision ask" and outcome.answer.get("decision") and not as_json and _is_agent() else None


def arguments_from(cls: Any, given: dict[str, Any], name: str) -> dict[str, Any]:
    """The command's arguments from what click parsed; options that were not given are left out."""
    found: dict[str, Any] = {}
    for field_name, (item, spec) in specs(cls).items():
        if spec.form == "hidden" or field_name not in given:
            continue
        value = given[field_name]
        if value is None or value == ():
            continue
        found[field_name] = _converted(field_name, str(item.type), value)
    prepare = PREPARE.get(name)
    return prepare(found, given) if prepare else found


def split_argv(text: str) -> list[str]:
    """One command line split once by shlex, never given to a shell."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"'{text[:60]}' cannot be split into words: {error}", code="bad_argument") from error


def split_criterion(text: str) -> tuple[str, tuple[str, ...]]:
    """A criterion and its check, bound by the last ` :: `."""
    words, mark, argv = text.rpartition(" :: ")
    return (words.strip(), tuple(split_argv(argv))) if mark else (text.strip(), ())


def in_words(name: str, answer: dict[str, Any], receipts: tuple[str, ...]) -> str:
    """One line for people: what it was, what came of it, the receipt at the right."""
    shown = [
        f"{key.replace('_', ' ')} {_word(value)}" if key not in ("todo", "goal", "decision", "turn", "title") else _word(value)
        for key, value in answer.items()
        if value not in (None, "", [], {}) and key not in ("token", "basis")
    ]
    return f"{name}: {'  '.join(shown) or 'done'}   {' '.join(receipts)}"


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_word(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_word(item)}" for key, item in value.items() if item not in (None, "", [], {}))
    return str(value)


def _param(name: str, annotation: str, default: Any, spec: Spec) -> click.Parameter:
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
    choice = click.Choice(spec.choices) if spec.choices else kind
    return click.Option([flag, name], multiple=many, type=choice, default=None, help=spec.help)


def _converted(name: str, annotation: str, value: Any) -> Any:
    base = annotation.removesuffix(" | None")
    if name in ARGV_FIELDS and base == "tuple[str, ...]":
        return split_argv(value)
    if name == "criterion":
        return [split_criterion(item) for item in value]
    if base.startswith("tuple[tuple["):
        return [split_argv(item) for item in value]
    if name == "until" and base == "int":
        from loopx_engine.cli.when import parse_when

        return parse_when(value)
    return list(value) if isinstance(value, tuple) else value


def _help(cls: Any, authority: tuple[str, ...]) -> str:
    said = {"signed": "signed with the owner's key", "person": "a person", "agent": "an agent with its token"}
    who = ", ".join(said[item] for item in authority if item in said)
    return f"{cls.__doc__}\n\nBy: {who}."


def _is_agent() -> bool:
    import os

    return bool(os.environ.get("LOOPX_TOKEN"))


def _project_option() -> list[click.Parameter]:
    return [click.Option(["--project", "project_dir"], help="the project's directory (this one)")]


def _in_project(arguments: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    from loopx_engine.cli.projects import project_here

    return {**arguments, "project": project_here(given.get("project_dir"))}


EXTRA: dict[str, Any] = {"goal add": _project_option}
PREPARE: dict[str, Any] = {"goal add": _in_project}
