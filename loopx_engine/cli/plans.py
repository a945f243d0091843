"""`loopx plan show | accept`: a goal's open proposal as a difference, and accepting it; and `decision propose`."""

from __future__ import annotations

import json
from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.cli.verbs import command_id_option, dry_run_option, json_option
from loopx_engine.errors import NotFound, UsageError
from loopx_engine.model.ids import expect


def plan_show() -> click.Command:
    """`loopx plan show GOAL`."""

    @click.command("show", help="The goal's open proposal, command by command.")
    @click.argument("goal")
    def command(goal: str, as_json: bool) -> None:
        proposal = open_proposal(goal)
        if as_json:
            shown = {name: proposal[name] for name in ("question", "why", "risk", "basis", "asked_by")}
            print_json("plan.show", {"goal": goal, "decision": proposal["id"], **shown, "items": proposal["commands"]})
            return
        from loopx_engine.cli.people.detail import command_words

        print_line(f"{proposal['id']}  {proposal['question']}")
        if proposal["why"]:
            print_line(f"why  {proposal['why']}")
        for item in proposal["commands"]:
            print_line(f"  + {command_words(item)}")
        print_line(f"accept: loopx plan accept {goal}")

    command.params.append(json_option())
    return command


def plan_accept() -> click.Command:
    """`loopx plan accept GOAL`."""

    @click.command("accept", help="Accept the goal's open proposal (short for loopx answer D yes).")
    @click.argument("goal")
    @click.option("--basis", help="the digest of what was shown; needed outside a terminal")
    @click.option("--reason", help="why; needed for a high risk")
    def command(
        goal: str, basis: str | None, reason: str | None, dry_run: bool, command_id: str | None, as_json: bool
    ) -> int | None:
        from loopx_engine.cli.answering import answer_decision

        proposal = open_proposal(goal)
        given: dict[str, Any] = {"basis": basis, "reason": reason, "goal": goal if basis else None}
        return answer_decision(
            str(proposal["id"]), "yes", given, dry_run=dry_run, as_json=as_json, command_id=command_id or ""
        )

    command.params += [dry_run_option(), command_id_option(), json_option()]
    return command


def decision_propose() -> click.Command:
    """`loopx decision propose GOAL QUESTION --commands JSON`."""

    @click.command("propose", help="Prepare commands for a person to accept.")
    @click.argument("goal")
    @click.argument("question")
    @click.option("--commands", required=True, help='a JSON list: [{"verb": "todo add", "arguments": {...}}]')
    @click.option("--why", help="the reason")
    @click.option("--blocks", multiple=True, help="a todo that must wait for the answer")
    def command(
        goal: str, question: str, commands: str, dry_run: bool, command_id: str | None, as_json: bool, **given: Any
    ) -> int | None:
        from loopx_engine.cli.running import run_verb

        options = {key: list(v) if isinstance(v, tuple) else v for key, v in given.items() if v}
        arguments = {"goal": goal, "question": question, "commands": _listed(commands), **options}
        return run_verb("decision propose", arguments, dry_run=dry_run, as_json=as_json, command_id=command_id or "")

    command.params += [dry_run_option(), command_id_option(), json_option()]
    return command


def open_proposal(goal: str) -> dict[str, Any]:
    """The goal's open proposal. Raises `NotFound` (`no_proposal`)."""
    from loopx_engine.cli.caller import caller

    decisions = caller().read("show", id=expect(goal, "goal"))["related"]["decisions"]
    found = [item for item in decisions if item["kind"] == "proposal" and item["state"] == "open"]
    if not found:
        raise NotFound(f"{goal} has no open proposal", code="no_proposal", next=f"loopx show {goal}")
    return dict(found[0])


def _listed(commands: str) -> list[dict[str, Any]]:
    try:
        listed = json.loads(commands)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--commands is no JSON list: {error}", code="bad_argument") from error
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise UsageError("--commands is a JSON list of objects", code="bad_argument")
    return listed
