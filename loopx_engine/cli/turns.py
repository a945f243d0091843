"""An agent's two calls: `turn begin` prints the packet and the turn's token, `turn finish` waits for the engine's proof."""

from __future__ import annotations

import time
from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.model.defaults import FINISH_WAIT_MS

POLL_S = 0.2


def turn_begin() -> click.Command:
    """`loopx turn begin [GOAL] [--todo T]`."""

    @click.command("begin", help="Take a todo and get its packet and the turn's token.")
    @click.argument("goal", required=False)
    @click.option("--todo", help="the todo to take")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(goal: str | None, todo: str | None, as_json: bool) -> None:
        from loopx_engine.cli.owner import local
        from loopx_engine.heartbeat.packet import build_packet
        from loopx_engine.model.turn import Turn

        found = local()
        arguments = {key: value for key, value in (("goal", goal), ("todo", todo)) if value}
        outcome = found.run("turn begin", arguments)
        with found.engine.read() as reader:
            turn = reader.get(Turn, str(outcome.answer["turn"]))
            packet = build_packet(reader, turn, found.engine.trust_of(reader)) if turn else {}
        body = {"receipt": outcome.receipts[0], **outcome.answer, "token": outcome.reveal.get("token"), "packet": packet}
        if as_json:
            print_json("turn.begin", body)
            return
        print_line(f"{body['turn']}  {body['purpose']}  {body['todo'] or ''}   {body['receipt']}")
        print_line(f"token (shown once): {body['token']}")
        for line in packet_lines(packet):
            print_line(line)

    return command


def turn_finish() -> click.Command:
    """`loopx turn finish TURN --outcome ...`."""

    @click.command("finish", help="Claim what came of a turn and wait for its proof.")
    @click.argument("turn")
    @click.option("--outcome", required=True, type=click.Choice(["done", "progress", "blocked", "failed"]))
    @click.option("--result", type=click.Choice(["pass", "fail"]), help="of a review, and only there")
    @click.option("--summary", help="what was done")
    @click.option("--evidence", multiple=True, help="a file that shows it")
    @click.option("--successor", help="the todo that follows")
    @click.option("--no-successor", help="why none is needed")
    @click.option("--command-id", help="a repeat with the same id changes nothing")
    @click.option("--wait", type=click.IntRange(0, FINISH_WAIT_MS // 1000), default=FINISH_WAIT_MS // 1000, help="seconds")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(turn: str, wait: int, command_id: str | None, as_json: bool, **given: Any) -> int | None:
        from loopx_engine.cli.caller import caller

        found = caller()
        arguments = {"turn": turn, **{key: list(v) if isinstance(v, tuple) else v for key, v in given.items() if v}}
        outcome = found.run("turn finish", arguments, command_id=command_id or "")
        body = {"receipt": outcome.receipts[0], "turn": turn, **_waited(found, turn, wait)}
        if as_json:
            print_json("turn.finish", body)
        else:
            print_line(f"{turn} {body['state']} {body.get('result') or ''}   {body['receipt']}")
            if body.get("tail"):
                print_line(str(body["tail"])[-1500:])
        return 8 if body["state"] == "refused" else None

    return command


def packet_lines(packet: dict[str, Any]) -> list[str]:
    """The packet in short for people; scripts take `--json`."""
    todo = packet.get("todo") or {}
    lines = [f"goal   {packet['goal']['title']}", f"todo   {todo.get('title', packet['purpose'])}"]
    if todo.get("check"):
        lines.append("check  " + " ".join(todo["check"]))
    lines.extend(f"{item['number']}. {item['text']} ({item['state']})" for item in packet["criteria"])
    lines.append(f"place  {packet['boundaries']['place']}")
    return lines


def _waited(found: Any, turn: str, wait: int) -> dict[str, Any]:
    """`done`, `refused` with the check's last lines while the turn stays open, or `proving` when the wait ended first."""
    until = time.monotonic() + wait
    while True:
        item = found.read("show", id=turn)["item"]
        if item["state"] == "settled":
            return {"state": item["result"], "result": item["result"], "reason": item["reason"]}
        if item["state"] == "lost":
            return {"state": "lost", "result": None, "reason": item["reason"]}
        if item["state"] == "open":
            return {"state": "refused", "mends": item["mends"], "tail": _tail(found, item)}
        if time.monotonic() >= until:
            return {"state": "proving", "result": None}
        time.sleep(POLL_S)


def _tail(found: Any, turn: dict[str, Any]) -> str:
    if not turn["todo"]:
        return ""
    evidence = found.read("show", id=turn["todo"])["related"]["evidence"]
    failed = [item for item in evidence if item["turn"] == turn["id"] and item["outcome"] == "fail"]
    return str(failed[0]["tail"])[-1200:] if failed else ""
