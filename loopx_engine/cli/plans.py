"""`loopx plan show | accept`: a goal's open proposal as a difference, and accepting it."""

from __future__ import annotations

import json
from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.errors import NotFound, UsageError


def plan_show() -> click.Command:
    """`loopx plan show GOAL`."""

    @click.command("show", help="The goal's open proposal, command by command.")
    @click.argument("goal")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(goal: str, as_json: bool) -> None:
        proposal = open_proposal(goal)
        if as_json:
            print_json("plan", proposal)
            return
        print_line(f"{proposal['id']}  {proposal['question']}")
        for number, item in enumerate(proposal["commands"], 1):
            words = "  ".join(f"{key} {value}" for key, value in item.get("arguments", {}).items() if value)
            print_line(f"  {number}. {item['verb']}  {words}")
        print_line(f"accept: loopx plan accept {goal}")

    return command


def plan_accept() -> click.Command:
    """`loopx plan accept GOAL`."""

    @click.command("accept", help="Accept the goal's open proposal (short for loopx answer D yes).")
    @click.argument("goal")
    @click.option("--basis", help="the digest of what was shown; needed outside a terminal")
    @click.option("--reason", help="why")
    @click.option("--dry-run", is_flag=True, help="show what would change, and change nothing")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(goal: str, basis: str | None, reason: str | None, dry_run: bool, as_json: bool) -> int | None:
        from loopx_engine.cli.answering import answer_decision

        proposal = open_proposal(goal)
        given: dict[str, Any] = {"basis": basis, "reason": reason, "goal": goal if basis else None}
        return answer_decision(str(proposal["id"]), "yes", given, dry_run=dry_run, as_json=as_json)

    return command


def decision_propose() -> click.Command:
    """`loopx decision propose GOAL QUESTION --commands JSON`."""

    @click.command("propose", help="Prepare commands for a person to accept.")
    @click.argument("goal")
    @click.argument("question")
    @click.option("--commands", required=True, help='a JSON list: [{"verb": "todo add", "arguments": {...}}]')
    @click.option("--why", help="the reason")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(goal: str, question: str, commands: str, why: str | None, as_json: bool) -> int | None:
        from loopx_engine.cli.verbs import run_verb

        try:
            listed = json.loads(commands)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"--commands is no JSON list: {error}", code="bad_argument") from error
        if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
            raise UsageError("--commands is a JSON list of objects", code="bad_argument")
        arguments = {"goal": goal, "question": question, "commands": listed, **({"why": why} if why else {})}
        return run_verb("decision propose", arguments, as_json=as_json)

    return command


def open_proposal(goal: str) -> dict[str, Any]:
    """The goal's open proposal. Raises `NotFound` (`no_proposal`)."""
    from loopx_engine.cli.caller import caller

    decisions = caller().read("list", noun="decision", goal=goal)["items"]
    found = [item for item in decisions if item["kind"] == "proposal" and item["state"] == "open"]
    if not found:
        raise NotFound(f"{goal} has no open proposal", code="no_proposal", next=f"loopx show {goal}")
    return dict(found[0])
