"""`loopx verify`, `backup` and `restore`: whether the ledger is sound, a copy of it, and going back to one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.cli.preview import print_plan
from loopx_engine.cli.verbs import dry_run_option, json_option


def verify() -> click.Command:
    """`loopx verify`."""

    @click.command("verify", help="Check the chains, the fold of all receipts, and every signature in force.")
    def command(as_json: bool) -> int | None:
        from loopx_engine.cli.owner import local

        engine = local().reading
        problems = problems_of(engine)
        receipts = engine.ledger.last_seq()
        if as_json:
            print_json("verify", {"sound": not problems, "receipts": receipts, "items": problems})
        else:
            for item in problems:
                print_line(f"{item['where']}: {item['what']}")
            print_line(
                f"{receipts} receipts, {len(problems)} findings" if problems else f"sound: {receipts} receipts verify"
            )
        return 9 if problems else None

    command.params.append(json_option())
    return command


def problems_of(engine: Any) -> list[dict[str, str]]:
    """Everything `verify` looks at: file and chains, state against receipts, answers and grants against signatures."""
    from loopx_engine.model.decision import Decision
    from loopx_engine.model.grant import Grant
    from loopx_engine.model.record import values

    found = [values(item) for item in [*engine.ledger.verify(), *engine.ledger.rebuild()]]
    with engine.read() as reader:
        trust = engine.trust_of(reader)
        signed = [*reader.records(Decision, "decision.signed"), *reader.records(Grant, "grant.all_live", limit=10_000)]
        for record in signed:
            why = trust.why_not(record)
            if why is not None:
                found.append({"where": record.id, "what": f"void: {why}"})
    return found


def backup() -> click.Command:
    """`loopx backup [FILE]`."""

    @click.command("backup", help="A whole, checked copy of the ledger.")
    @click.argument("file", required=False)
    def command(file: str | None, dry_run: bool, as_json: bool) -> None:
        from loopx_engine.cli.owner import for_a_person, local
        from loopx_engine.host.paths import private_folder

        found = local()
        for_a_person(found)
        folder = found.home / "backups"
        target = Path(file).expanduser().absolute() if file else folder / f"ledger-{found.engine.clock.now()}.db"
        if dry_run:
            print_plan("backup", {"file": str(target)}, [], as_json=as_json, acts=[f"write a copy to {target}"])
            return
        if not file:
            private_folder(folder)
        made = found.engine.ledger.backup(target)
        receipts = found.engine.ledger.last_seq()
        if as_json:
            print_json("backup", {"file": str(made), "receipts": receipts})
        else:
            print_line(f"{made}   {receipts} receipts")

    command.params += [dry_run_option(), json_option()]
    return command


def restore() -> click.Command:
    """`loopx restore BACKUP`."""

    @click.command(
        "restore", help="Go back to a backup; the ledger that is there is kept aside, every act needs signing anew."
    )
    @click.argument("backup_file", metavar="BACKUP")
    def command(backup_file: str, dry_run: bool, as_json: bool) -> None:
        from loopx_engine.cli.local import LocalCaller
        from loopx_engine.cli.restoring import kept_as, restore_signed

        caller, source = LocalCaller(os.environ), Path(backup_file).expanduser().absolute()
        if dry_run:
            acts = [f"keep the ledger as {kept_as(caller)}", f"put {source} in its place, as a new incarnation"]
            print_plan(
                "restore", {"file": str(source)}, [], as_json=as_json, risk="high", authority=["signed"], acts=acts
            )
            return
        came = restore_signed(caller, source)
        if as_json:
            print_json("restore", came)
            return
        print_line(f"restored from {source}, incarnation {came['incarnation']}")
        if came["kept"]:
            print_line(f"the old ledger is {came['kept']}")
        for goal in came["paused"]:
            print_line(f"{goal} is paused: loopx goal resume {goal} signs it anew")

    command.params += [dry_run_option(), json_option()]
    return command
