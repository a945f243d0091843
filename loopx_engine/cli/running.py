"""Running one verb for whoever this process is, and printing what came of it. Needs no parser."""

from __future__ import annotations

from typing import Any

from loopx_engine.cli.output import print_json, print_line


def run_verb(
    name: str, arguments: dict[str, Any], *, dry_run: bool = False, command_id: str = "", as_json: bool = False
) -> int | None:
    """Runs or previews one verb and prints what came of it. Returns 6 where a decision was opened for an agent."""
    from loopx_engine.cli.caller import caller, is_agent

    found = caller()
    if dry_run:
        from loopx_engine.cli.preview import print_preview

        print_preview(found, name, arguments, as_json=as_json)
        return None
    outcome = found.run(name, arguments, command_id=command_id)
    shown = {**outcome.answer, **outcome.reveal}
    if as_json:
        body = {"receipt": outcome.receipts[0], "receipts": list(outcome.receipts), "replayed": outcome.replayed}
        undone = {"undone": shown.pop("receipt")} if "receipt" in shown else {}
        print_json(name.replace(" ", "."), {**body, **undone, **shown})
    else:
        from loopx_engine.cli.sentences import sentences

        for line in sentences(name, shown, outcome.receipts):
            print_line(line)
    return 6 if name in ("decision ask", "decision propose") and outcome.answer.get("decision") and is_agent() else None
