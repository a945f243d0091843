"""An agent's two calls: `turn begin` prints the packet and the turn's token, `turn finish` waits for the engine's proof."""

from __future__ import annotations

import time
from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.cli.running import run_verb
from loopx_engine.cli.verbs import command_id_option, dry_run_option, json_option
from loopx_engine.model.defaults import FINISH_WAIT_MS

POLL_S = 0.2
TAIL = 1500


def turn_begin() -> click.Command:
    """`loopx turn begin [GOAL] [--todo T]`."""

    @click.command("begin", help="Take a todo and get its packet and the turn's token.")
    @click.argument("goal", required=False)
    @click.option("--todo", help="the todo to take")
    def command(goal: str | None, todo: str | None, dry_run: bool, command_id: str | None, as_json: bool) -> int | None:
        from loopx_engine.cli.owner import local
        from loopx_engine.heartbeat.packet import build_packet
        from loopx_engine.model.turn import Turn

        found = local()
        arguments = {key: value for key, value in (("goal", goal), ("todo", todo)) if value}
        if dry_run:
            return run_verb("turn begin", arguments, dry_run=True, as_json=as_json)
        outcome = found.run("turn begin", arguments, command_id=command_id or "")
        with found.engine.read() as reader:
            turn = reader.get(Turn, str(outcome.answer["turn"]))
            packet = build_packet(reader, turn, found.engine.trust_of(reader)) if turn else {}
        body = {"receipt": outcome.receipts[0], "receipts": list(outcome.receipts), "replayed": outcome.replayed,
                **outcome.answer, "token": outcome.reveal.get("token"), "packet": packet}  # fmt: skip
        if as_json:
            print_json("turn.begin", body)
            return None
        print_line(
            "  ".join(part for part in (body["turn"], body["purpose"], body["todo"] or "") if part)
            + f"   {body['receipt']}"
        )
        print_line(f"token (shown once): {body['token']}" if body["token"] else "its token was shown before")
        for line in packet_lines(packet):
            print_line(line)
        return None

    command.params += [dry_run_option(), command_id_option(), json_option()]
    return command


def turn_finish() -> click.Command:
    """`loopx turn finish TURN --outcome ...`."""

    @click.command("finish", help="Claim what came of a turn and wait for its proof; exit 8 where it is refused.")
    @click.argument("turn")
    @click.option("--outcome", required=True, type=click.Choice(["done", "progress", "blocked", "failed"]))
    @click.option("--result", type=click.Choice(["pass", "fail"]), help="of a review, and only there")
    @click.option("--summary", help="what was done")
    @click.option("--evidence", multiple=True, help="a file that shows it")
    @click.option("--successor", help="the todo that follows")
    @click.option("--no-successor", help="why none is needed")
    @click.option(
        "--wait", type=click.IntRange(0, FINISH_WAIT_MS // 1000), default=FINISH_WAIT_MS // 1000,
        help="seconds to wait for the proof",
    )  # fmt: skip
    def command(turn: str, wait: int, dry_run: bool, command_id: str | None, as_json: bool, **given: Any) -> int | None:
        from loopx_engine.cli.caller import caller

        arguments = {"turn": turn, **{key: list(v) if isinstance(v, tuple) else v for key, v in given.items() if v}}
        if dry_run:
            return run_verb("turn finish", arguments, dry_run=True, as_json=as_json)
        found = caller()
        outcome = found.run("turn finish", arguments, command_id=command_id or "")
        came = _waited(found, turn, wait)
        body = {
            "receipt": outcome.receipts[0],
            "receipts": list(outcome.receipts),
            "replayed": outcome.replayed,
            "turn": turn,
        }
        if as_json:
            print_json("turn.finish", {**body, **came})
        else:
            print_line(
                "  ".join(part for part in (turn, came["state"], came["reason"]) if part) + f"   {body['receipt']}"
            )
            for line in came["tail"][-TAIL:].splitlines():
                print_line(line)
        return 8 if came["state"] == "refused" else None

    command.params += [dry_run_option(), command_id_option(), json_option()]
    return command


def packet_lines(packet: dict[str, Any]) -> list[str]:
    """The packet in short for people; scripts take `--json`."""
    if not packet:
        return []
    todo = packet.get("todo") or {}
    lines = [f"goal   {packet['goal']['title']}", f"todo   {todo.get('title', packet['purpose'])}"]
    if todo.get("check"):
        lines.append("check  " + " ".join(todo["check"]))
    lines.extend(f"{item['number']}. {item['text']} ({item['state']})" for item in packet["criteria"])
    if packet["boundaries"]["place"]:
        lines.append(f"place  {packet['boundaries']['place']}")
    return lines


def _waited(found: Any, turn: str, wait: int) -> dict[str, Any]:
    """`done`, `refused` with the check's last lines while the turn stays open, or `proving` when the wait ended first."""
    until = time.monotonic() + wait
    while True:
        item = found.read("show", id=turn)["item"]
        came = {"result": item["result"] or None, "reason": item["reason"], "mends": item["mends"], "tail": ""}
        if item["state"] == "settled":
            return {"state": item["result"], **came}
        if item["state"] == "lost":
            return {"state": "lost", **came}
        if item["state"] == "open":
            return {"state": "refused", **came, "tail": _tail(found, item)}
        if time.monotonic() >= until:
            return {"state": "proving", **came}
        time.sleep(POLL_S)


def _tail(found: Any, turn: dict[str, Any]) -> str:
    if not turn["todo"]:
        return ""
    evidence = found.read("show", id=turn["todo"])["related"]["evidence"]
    failed = [item for item in evidence if item["turn"] == turn["id"] and item["outcome"] in ("fail", "cannot run")]
    return str(failed[0]["tail"])[-TAIL:] if failed else ""
