"""`loopx stop` and `loopx undo`."""

from __future__ import annotations

from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.errors import TryAgain


def stop() -> click.Command:
    """`loopx stop [GOAL | --all]`."""

    @click.command("stop", help="No new turn; running ones are ended with all their processes.")
    @click.argument("goal", required=False)
    @click.option("--all", "everything", is_flag=True, help="every goal")
    @click.option("--dry-run", is_flag=True, help="show what would change, and change nothing")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(goal: str | None, everything: bool, dry_run: bool, as_json: bool) -> int | None:
        from loopx_engine.cli.verbs import run_verb

        arguments = {**({"goal": goal} if goal else {}), **({"all": True} if everything else {})}
        if dry_run:
            return run_verb("stop", arguments, dry_run=True, as_json=as_json)
        return _stop(arguments, as_json=as_json)

    return command


def undo() -> click.Command:
    """`loopx undo RECEIPT`."""

    @click.command("undo", help="Take back what a receipt did, if nothing has changed it since.")
    @click.argument("receipt")
    @click.option("--dry-run", is_flag=True, help="show what would change, and change nothing")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(receipt: str, dry_run: bool, as_json: bool) -> int | None:
        from loopx_engine.cli.verbs import run_verb

        return run_verb("undo", {"receipt": receipt}, dry_run=dry_run, as_json=as_json)

    return command


def _stop(arguments: dict[str, Any], *, as_json: bool) -> int | None:
    from loopx_engine.cli.owner import local
    from loopx_engine.heartbeat.stopping import finish_stop

    found = local()
    outcome = found.run("stop", arguments)
    came = finish_stop(
        found.engine, found.engine.clock, list(outcome.answer["turns"]), engine_runs=engine_runs(found.home)
    )
    if as_json:
        print_json("stop", {"receipt": outcome.receipts[0], "goals": outcome.answer["goals"], **came})
    else:
        goals = ", ".join(outcome.answer["goals"]) or "nothing was active"
        print_line(f"stopped {goals}   {' '.join(outcome.receipts)}")
        print_line(f"turns ended {len(came['turns_ended'])}, processes left {len(came['processes_left'])}")
        print_line("start again: loopx goal resume GOAL")
    return 75 if came["processes_left"] or came["still_proving"] else None


def engine_runs(home: Any) -> bool:
    """Whether an engine holds this ledger's engine lock."""
    from loopx_engine.host.lock import single_instance

    try:
        single_instance(home / "engine.lock").close()
    except TryAgain:
        return True
    return False
