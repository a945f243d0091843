"""`loopx project setup | check`: how new places are prepared, and whether every check can run there."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from loopx_engine.cli.caller import caller
from loopx_engine.cli.local import LocalCaller
from loopx_engine.cli.output import print_json, print_line
from loopx_engine.cli.owner import local
from loopx_engine.cli.preview import print_plan
from loopx_engine.cli.projects import project_arguments, project_here
from loopx_engine.cli.running import run_verb
from loopx_engine.cli.verbs import command_id_option, dry_run_option, json_option
from loopx_engine.desk.typed import split_argv
from loopx_engine.errors import Refused, UsageError
from loopx_engine.model.check import Check
from loopx_engine.model.goal import Goal

LOCK_FILES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("uv.lock", ("uv", "sync", "--frozen")),
    ("poetry.lock", ("poetry", "install", "--no-interaction")),
    ("pnpm-lock.yaml", ("pnpm", "install", "--frozen-lockfile")),
    ("yarn.lock", ("yarn", "install", "--frozen-lockfile")),
    ("package-lock.json", ("npm", "ci")),
    ("Cargo.lock", ("cargo", "fetch", "--locked")),
    ("go.sum", ("go", "mod", "download")),
)


def project_setup() -> click.Command:
    """`loopx project setup [DIR] [--argv ARGV]...`."""

    @click.command(
        "setup", help="Say how a new place is prepared; without --argv, what the lock files suggest is shown."
    )
    @click.argument("directory", required=False)
    @click.option("--argv", multiple=True, help="one step, split once by shlex; may be given several times")
    @click.option("--none", "nothing", is_flag=True, help="no step is needed")
    def command(
        directory: str | None,
        argv: tuple[str, ...],
        nothing: bool,
        dry_run: bool,
        command_id: str | None,
        as_json: bool,
    ) -> int | None:
        if argv and nothing:
            raise UsageError(
                "--argv and --none exclude each other", code="bad_argument", next="loopx project setup --help"
            )
        steps = [split_argv(step) for step in argv]
        project = project_here(directory, enter=not dry_run and bool(argv or nothing))
        if not argv and not nothing:
            _propose(project, directory, as_json=as_json)
            return None
        if not project:
            return run_verb("project add", project_arguments(directory), dry_run=True, as_json=as_json)
        return run_verb(
            "project setup",
            {"project": project, "argv": steps},
            dry_run=dry_run,
            as_json=as_json,
            command_id=command_id or "",
        )

    command.params += [dry_run_option(), command_id_option(), json_option()]
    return command


def project_check() -> click.Command:
    """`loopx project check [DIR]`."""

    @click.command("check", help="Make the places of this project's goals and run every check on its base commit.")
    @click.argument("directory", required=False)
    def command(directory: str | None, dry_run: bool, as_json: bool) -> int | None:
        project = project_here(directory, enter=not dry_run)
        found = local()
        with found.engine.read() as reader:
            goals = [] if not project else reader.records(Goal, "goal.of_project", project=project, limit=50)
        wanted = [goal for goal in goals if goal.phase != "done"]
        if dry_run:
            acts = [f"make the place of {goal.id} and run its checks there" for goal in wanted]
            print_plan("project check", {"project": project}, [], as_json=as_json, acts=acts)
            return None
        return _check(found, project, wanted, as_json=as_json)

    command.params += [dry_run_option(), json_option()]
    return command


def _check(found: LocalCaller, project: str, goals: list[Goal], *, as_json: bool) -> int | None:
    from loopx_engine.heartbeat.opening import open_heart
    from loopx_engine.heartbeat.preparing import prepare

    if found.who(writing=True).kind != "person" or found.who(writing=True).ancestor:
        raise Refused("checks are run by an engine; this is a person's command", code="inside_turn", next="loopx next")
    heart = open_heart(found.engine, found.home, found.environ)
    rows: list[dict[str, Any]] = []
    for goal in goals:
        prepare(heart, goal)
        with found.engine.read() as reader:
            rows.extend(
                {"goal": goal.id, "check": c.id, "argv": list(c.argv), "baseline": c.baseline, "tail": c.baseline_tail}
                for c in reader.records(Check, "check.of_goal", goal=goal.id)
            )
    if as_json:
        print_json("project.check", {"project": project, "sandbox": heart.box.kind, "items": rows})
    else:
        for row in rows:
            print_line(f"{row['baseline']:<11} {' '.join(row['argv'])}   {row['goal']}")
            if row["baseline"] == "cannot run" and row["tail"]:
                print_line(f"{'':<11} {row['tail'].strip().splitlines()[-1]}")
        print_line("not sandboxed" if heart.box.kind == "none" else f"in {heart.box.kind}")
        if not rows:
            print_line("no check is set for a goal of this project")
    return 8 if any(row["baseline"] == "cannot run" for row in rows) else None


def proposed_steps(root: Path) -> list[list[str]]:
    """The set-up the lock files of a project suggest; data until a person accepts it."""
    return [list(argv) for name, argv in LOCK_FILES if (root / name).is_file()]


def _propose(project: str, directory: str | None, *, as_json: bool) -> None:
    shown = (
        caller().read("show", id=project)["item"]
        if project
        else {"root": project_arguments(directory)["root"], "setup": []}
    )
    steps = proposed_steps(Path(shown["root"]))
    if as_json:
        body = {"project": project or None, "root": shown["root"], "set": shown["setup"], "items": steps}
        print_json("project.setup.proposed", body)
        return
    for step in shown["setup"]:
        print_line("set       " + " ".join(step))
    for step in steps:
        print_line("proposed  " + " ".join(step))
    if not shown["setup"] and not steps:
        print_line("nothing is set and no lock file suggests anything")
    argv = " ".join(f"--argv {shlex.quote(shlex.join(step))}" for step in steps) or "--argv '...', or --none"
    print_line(f"accept: loopx project setup {argv}")
