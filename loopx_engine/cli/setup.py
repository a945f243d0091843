"""`loopx project setup | check`: how new places are prepared, and whether every check can run there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line

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

    @click.command("setup", help="Say how a new place is prepared; without --argv, what the lock files suggest is shown.")
    @click.argument("directory", required=False)
    @click.option("--argv", multiple=True, help="one step, split once by shlex; may be given several times")
    @click.option("--none", "nothing", is_flag=True, help="no step is needed")
    @click.option("--dry-run", is_flag=True, help="show what would change, and change nothing")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(
        directory: str | None, argv: tuple[str, ...], nothing: bool, dry_run: bool, as_json: bool
    ) -> int | None:
        from loopx_engine.cli.projects import project_here
        from loopx_engine.cli.verbs import run_verb, split_argv

        project = project_here(directory)
        if not argv and not nothing:
            return _propose(project, directory, as_json=as_json)
        steps = [split_argv(step) for step in argv]
        return run_verb("project setup", {"project": project, "argv": steps}, dry_run=dry_run, as_json=as_json)

    return command


def project_check() -> click.Command:
    """`loopx project check [DIR]`."""

    @click.command("check", help="Make the places of this project's goals and run every check on its base commit.")
    @click.argument("directory", required=False)
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(directory: str | None, as_json: bool) -> int | None:
        from loopx_engine.cli.owner import local
        from loopx_engine.cli.projects import project_here
        from loopx_engine.heartbeat.opening import open_heart
        from loopx_engine.heartbeat.preparing import prepare
        from loopx_engine.model.check import Check
        from loopx_engine.model.goal import Goal

        project = project_here(directory)
        found = local()
        heart = open_heart(found.engine, found.home, found.environ)
        with found.engine.read() as reader:
            goals = [g for g in reader.records(Goal, "goal.of_project", project=project, limit=50) if g.phase != "done"]
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
            if not rows:
                print_line("no check is set for a goal of this project")
        return 8 if any(row["baseline"] == "cannot run" for row in rows) else None

    return command


def proposed_steps(root: Path) -> list[list[str]]:
    """The set-up the lock files of a project suggest; data until a person accepts it."""
    return [list(argv) for name, argv in LOCK_FILES if (root / name).is_file()]


def _propose(project: str, directory: str | None, *, as_json: bool) -> None:
    from loopx_engine.cli.caller import caller

    shown = caller().read("show", id=project)["item"]
    steps = proposed_steps(Path(shown["root"]))
    if as_json:
        print_json("project.setup", {"project": project, "set": shown["setup"], "proposed": steps})
        return
    for step in shown["setup"]:
        print_line("set       " + " ".join(step))
    for step in steps:
        print_line("proposed  " + " ".join(step))
    if not shown["setup"] and not steps:
        print_line("nothing is set and no lock file suggests anything")
    print_line("accept: loopx project setup --argv '...'")
