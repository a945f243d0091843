"""`loopx stop` and `loopx undo`."""

from __future__ import annotations

from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.cli.running import run_verb
from loopx_engine.cli.verbs import command_id_option, dry_run_option, json_option


def stop() -> click.Command:
    """`loopx stop [GOAL | --all]`."""

    @click.command("stop", help="No new turn; running ones are ended with all their processes.")
    @click.argument("goal", required=False)
    @click.option("--all", "everything", is_flag=True, help="every goal")
    def command(goal: str | None, everything: bool, dry_run: bool, command_id: str | None, as_json: bool) -> int | None:
        arguments = {**({"goal": goal} if goal else {}), **({"all": True} if everything else {})}
        if dry_run:
            return run_verb("stop", arguments, dry_run=True, as_json=as_json)
        return _stop(arguments, command_id or "", as_json=as_json)

    command.params += [dry_run_option(), command_id_option(), json_option()]
    return command


def undo() -> click.Command:
    """`loopx undo RECEIPT`."""

    @click.command("undo", help="Take back what a receipt did, if nothing has changed it since.")
    @click.argument("receipt")
    def command(receipt: str, dry_run: bool, command_id: str | None, as_json: bool) -> int | None:
        return run_verb("undo", {"receipt": receipt}, dry_run=dry_run, as_json=as_json, command_id=command_id or "")

    command.params += [dry_run_option(), command_id_option(), json_option()]
    return command


def _stop(arguments: dict[str, Any], command_id: str, *, as_json: bool) -> int | None:
    from loopx_engine.cli.owner import local
    from loopx_engine.desk.background import engine_runs
    from loopx_engine.desk.opening import engine_lock
    from loopx_engine.heartbeat.stopping import finish_stop

    found = local()
    outcome = found.run("stop", arguments, command_id=command_id)
    came = finish_stop(
        found.engine,
        found.engine.clock,
        list(outcome.answer["turns"]),
        engine_runs=engine_runs(engine_lock(found.environ)),
        goals=sorted({*outcome.answer["goals"], *([str(arguments["goal"])] if "goal" in arguments else [])}),
    )
    if as_json:
        body = {"receipt": outcome.receipts[0], "receipts": list(outcome.receipts), "goals": outcome.answer["goals"]}
        print_json("stop", {**body, **came})
    else:
        goals = ", ".join(outcome.answer["goals"])
        print_line(f"{goals}  stopped   {' '.join(outcome.receipts)}" if goals else "nothing was active")
        ended, left = len(came["turns_ended"]), len(came["processes_left"])
        print_line(
            f"{ended} turn{'' if ended == 1 else 's'} ended, {left or 'no'} process{'' if left == 1 else 'es'} left"
        )
        if came["claims_kept"]:
            print_line(f"claims kept, proved when work goes on: {', '.join(came['claims_kept'])}")
        for goal in outcome.answer["goals"]:
            print_line(f"start again: loopx goal resume {goal}")
    return 75 if came["processes_left"] or came["still_proving"] else None
