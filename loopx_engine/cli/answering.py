"""`loopx answer`: a terminal shows the decision and asks; elsewhere the basis of what was shown must be quoted."""

from __future__ import annotations

from typing import Any

import click

from loopx_engine.cli.output import print_line
from loopx_engine.cli.verbs import run_verb
from loopx_engine.errors import Refused


def answer() -> click.Command:
    """`loopx answer DECISION OPTION`."""

    @click.command("answer", help="Answer a decision; signed with the owner's key. OPTION is yes, no or an option's id.")
    @click.argument("decision")
    @click.argument("option", required=False)
    @click.option("--reason", help="why; needed for a high risk")
    @click.option("--text", help="an answer in words")
    @click.option("--goal", help="the goal's id, typed; needed for a high risk")
    @click.option("--basis", help="the digest of what was shown; needed outside a terminal")
    @click.option("--remember", is_flag=True, help="and from now on")
    @click.option("--scope", help="the pattern that is remembered")
    @click.option("--until", help="when that ends, like 24h or 3d")
    @click.option("--uses", type=int, help="how often it may be used")
    @click.option("--dry-run", is_flag=True, help="show what would change, and change nothing")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(decision: str, option: str | None, dry_run: bool, as_json: bool, **given: Any) -> int | None:
        return answer_decision(decision, option, given, dry_run=dry_run, as_json=as_json)

    return command


def answer_decision(
    decision: str, option: str | None, given: dict[str, Any], *, dry_run: bool = False, as_json: bool = False
) -> int | None:
    """Shows and asks where a person can be asked, then answers."""
    from loopx_engine.cli.caller import caller
    from loopx_engine.cli.signing import in_terminal
    from loopx_engine.cli.when import parse_when

    arguments = {key: value for key, value in given.items() if value not in (None, False)}
    if "until" in arguments:
        arguments["until"] = parse_when(str(arguments["until"]))
    if not arguments.get("basis"):
        if not in_terminal():
            raise Refused(
                "outside a terminal an answer quotes what was shown",
                code="basis_missing",
                next=f"loopx show {decision} --json, then loopx answer {decision} OPTION --basis DIGEST",
            )
        shown = caller().read("show", id=decision)
        option = _ask(shown, option, arguments)
        arguments["basis"] = shown["item"]["basis"]
    if not option:
        raise Refused("an answer names an option", code="option_missing", next=f"loopx show {decision}")
    return run_verb(
        "decision answer", {"decision": decision, "option": option, **arguments}, dry_run=dry_run, as_json=as_json
    )


def _ask(shown: dict[str, Any], option: str | None, arguments: dict[str, Any]) -> str:
    from loopx_engine.cli.people import decision_lines

    item = shown["item"]
    for line in decision_lines(item):
        print_line(line)
    answers = [name for name, _ in item["options"]] or ["yes"]
    chosen = option or str(click.prompt("answer", type=click.Choice([*answers, "no"]), err=True))
    if item["risk"] == "high" and chosen != "no":
        arguments.setdefault("goal", str(click.prompt(f"high risk: type the goal's id ({item['goal']})", err=True)))
    if item["risk"] == "high":
        arguments.setdefault("goal", item["goal"])
        if not arguments.get("reason"):
            arguments["reason"] = str(click.prompt("reason", err=True))
    elif option and not click.confirm(f"answer {chosen}?", default=True, err=True):
        raise click.Abort
    return chosen
