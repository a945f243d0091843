"""`loopx answer`: a terminal shows the decision and asks; elsewhere the basis of what was shown must be quoted."""

from __future__ import annotations

from typing import Any

import click

from loopx_engine.cli.output import say
from loopx_engine.cli.running import run_verb
from loopx_engine.cli.verbs import command_id_option, dry_run_option, json_option
from loopx_engine.errors import Refused, UsageError


def answer() -> click.Command:
    """`loopx answer DECISION OPTION`."""

    @click.command(
        "answer", help="Answer a decision; signed with the owner's key. OPTION is yes, no or an option's id."
    )
    @click.argument("decision")
    @click.argument("option", required=False)
    @click.option("--reason", help="why; needed for a high risk")
    @click.option("--text", help="an answer in words")
    @click.option("--goal", help="the goal's id, typed; needed for a high risk")
    @click.option("--basis", help="the digest of what was shown; needed outside a terminal")
    @click.option("--remember", is_flag=True, help="and from now on")
    @click.option("--scope", help="the pattern that is remembered")
    @click.option("--until", help="when that ends, like 24h or 3d")
    @click.option("--uses", type=click.IntRange(min=1), help="how often it may be used")
    def command(
        decision: str, option: str | None, dry_run: bool, command_id: str | None, as_json: bool, **given: Any
    ) -> int | None:
        return answer_decision(decision, option, given, dry_run=dry_run, as_json=as_json, command_id=command_id or "")

    command.params += [dry_run_option(), command_id_option(), json_option()]
    return command


def answer_decision(
    decision: str,
    option: str | None,
    given: dict[str, Any],
    *,
    dry_run: bool = False,
    as_json: bool = False,
    command_id: str = "",
) -> int | None:
    """Shows and asks where a person can be asked, then answers."""
    from loopx_engine.cli.caller import caller, is_agent
    from loopx_engine.cli.signing import in_terminal

    arguments = _arguments(given)
    if not arguments.get("basis") and not is_agent():
        if not in_terminal() and not dry_run:
            raise Refused(
                "outside a terminal an answer quotes what was shown",
                code="basis_missing",
                next=f"loopx show {decision} --json, then loopx answer {decision} OPTION --basis DIGEST",
            )
        shown = caller().read("show", id=decision)
        if shown["kind"] != "decision":
            raise UsageError(f"{decision} is no decision", code="bad_id", next="loopx inbox")
        if not dry_run:
            option = _ask(shown, option, arguments)
        arguments["basis"] = shown["item"]["basis"]
    if not option:
        raise UsageError(
            "an answer names an option: yes, no or an option's id", code="option_missing", next=f"loopx show {decision}"
        )
    return run_verb(
        "decision answer",
        {"decision": decision, "option": option, **arguments},
        dry_run=dry_run,
        as_json=as_json,
        command_id=command_id,
    )


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    from loopx_engine.desk.when import parse_when

    found = {name: value for name, value in given.items() if value not in (None, False)}
    if "until" in found:
        found["until"] = parse_when(str(found["until"]))
    if not found.get("remember") and {"scope", "until", "uses"} & set(found):
        raise UsageError(
            "--scope, --until and --uses belong to --remember", code="bad_argument", next="loopx answer --help"
        )
    return found


def _ask(shown: dict[str, Any], option: str | None, arguments: dict[str, Any]) -> str:
    from loopx_engine.cli.people.detail import decision_lines

    item = shown["item"]
    for line in decision_lines(item, shown["names"]):
        say(line)
    if item["state"] != "open":
        raise Refused(f"{item['id']} is {item['state']}: it takes no answer", code="not_open", next="loopx inbox")
    answers = [name for name, _ in item["options"]] or ["yes"]
    chosen = option or str(click.prompt("answer", type=click.Choice([*answers, "no"]), err=True))
    if item["risk"] == "high":
        if not arguments.get("goal"):
            arguments["goal"] = str(click.prompt(f"high risk: type the goal's id ({item['goal']})", err=True))
        if not arguments.get("reason"):
            arguments["reason"] = str(click.prompt("reason", err=True))
    elif option and not click.confirm(f"answer {chosen}?", default=True, err=True):
        raise click.Abort
    return chosen
