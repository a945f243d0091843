"""`loopx verify`, `backup` and `restore`: whether the ledger is sound, a copy of it, and going back to one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line


def verify() -> click.Command:
    """`loopx verify`."""

    @click.command("verify", help="Check the chains, the fold of all receipts, and every signature in force.")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(as_json: bool) -> int | None:
        from loopx_engine.cli.owner import local

        engine = local().engine
        problems = problems_of(engine)
        receipts = engine.ledger.last_seq()
        if as_json:
            print_json("verify", {"sound": not problems, "receipts": receipts, "items": problems})
        else:
            for item in problems:
                print_line(f"{item['where']}: {item['what']}")
            print_line(f"{receipts} receipts, {len(problems)} findings" if problems else f"sound: {receipts} receipts verify")
        return 9 if problems else None

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
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(file: str | None, as_json: bool) -> None:
        from loopx_engine.cli.owner import local
        from loopx_engine.host.paths import private_folder

        found = local()
        if file:
            target = Path(file).expanduser()
        else:
            folder = private_folder(found.home / "backups")
            target = folder / f"ledger-{found.engine.clock.now()}.db"
        made = found.engine.ledger.backup(target)
        if as_json:
            print_json("backup", {"file": str(made), "receipts": found.engine.ledger.last_seq()})
        else:
            print_line(f"{made}   {found.engine.ledger.last_seq()} receipts")

    return command


def restore() -> click.Command:
    """`loopx restore BACKUP`."""

    @click.command("restore", help="Go back to a backup; the ledger that is there is kept aside, every act needs signing anew.")
    @click.argument("backup_file")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(backup_file: str, as_json: bool) -> None:
        import os

        from loopx_engine.cli.local import LocalCaller
        from loopx_engine.cli.restoring import restore_signed

        came = restore_signed(LocalCaller(os.environ), Path(backup_file).expanduser())
        if as_json:
            print_json("restore", came)
        else:
            print_line(f"restored from {backup_file}, incarnation {came['incarnation']}; the old ledger is {came['kept']}")

    return command
