"""`loopx follow`, `diff` and `place GOAL`: the live output of a turn, what a branch changed, and where it is."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.cli.verbs import json_option
from loopx_engine.errors import NotFound, Refused
from loopx_engine.model.ids import expect

POLL_S = 0.25
DIFF_BYTES = 1_000_000
READ_BYTES = 64_000
LINES = 5000


def follow() -> click.Command:
    """`loopx follow [GOAL]`."""

    @click.command("follow", help="The live output of a running turn, until it ends.")
    @click.argument("goal", required=False)
    def command(goal: str | None, as_json: bool) -> None:
        from loopx_engine.cli.owner import local

        gc.enable()
        try:
            _follow(local(), expect(goal, "goal") if goal else None, as_json=as_json)
        except KeyboardInterrupt:
            return

    command.params.append(json_option())
    return command


def diff() -> click.Command:
    """`loopx diff GOAL`."""

    @click.command("diff", help="What a goal's branch and place changed since its base.")
    @click.argument("goal")
    def command(goal: str, as_json: bool) -> None:
        from loopx_engine.places.commits import diff_text, log

        place = _place(goal)
        path = Path(place["path"])
        if not place["branch"]:
            raise Refused(f"{goal} works in a directory without git", code="no_repository", next=f"loopx place {goal}")
        if not path.is_dir():
            raise NotFound(f"the place of {goal}, {path}, is gone", code="place_gone", next=f"loopx show {goal}")
        text = diff_text(path, place["base"], DIFF_BYTES)
        commits = log(path, place["branch"], place["base"])
        if as_json:
            listed = [
                {"commit": item.sha, "subject": item.subject, "trailers": dict(item.trailers)} for item in commits
            ]
            print_json("diff", {"goal": goal, "branch": place["branch"], "items": listed, "diff": text})
            return
        for item in reversed(commits):
            print_line(f"{item.sha[:10]}  {item.trailers.get('LoopX-Todo', ''):<6} {item.subject}")
        for line in text.split("\n"):
            print_line(line)
        if not commits and not text.strip():
            print_line("nothing was changed yet")

    command.params.append(json_option())
    return command


def place() -> click.Command:
    """`loopx place GOAL`."""

    @click.command("place", help="Where a goal's turns run.")
    @click.argument("goal")
    def command(goal: str, as_json: bool) -> None:
        found = _place(goal)
        print_json("place", found) if as_json else print_line(found["path"])

    command.params.append(json_option())
    return command


def _place(goal: str) -> dict[str, Any]:
    from loopx_engine.cli.caller import caller

    places = caller().read("show", id=expect(goal, "goal"))["related"]["places"]
    if not places:
        raise NotFound(f"{goal} has no place yet", code="no_place", next="loopx-engine run prepares it")
    return dict(next((item for item in places if item["state"] == "ready"), places[0]))


def _follow(found: Any, goal: str | None, *, as_json: bool) -> None:
    running = [item for item in found.read("status")["running"] if not goal or item["goal"] == goal]
    if not running:
        raise NotFound("no turn is running" + (f" for {goal}" if goal else ""), code="no_turn", next="loopx status")
    turn = running[0]["turn"]
    item = found.read("show", id=turn)["item"]
    kept: list[str] = []
    tell: Callable[[str], None] = kept.append if as_json else print_line
    if not as_json:
        print_line(f"{turn}  {running[0]['actor']}  {running[0]['title_todo']}")
    position = 0
    while True:
        live = item["state"] in ("open", "finishing")
        position = _more(item["transcript"], position, tell)
        del kept[:-LINES]
        if not live:
            break
        time.sleep(POLL_S)
        item = found.read("show", id=turn)["item"]
    if as_json:
        print_json("follow", {"turn": turn, "state": item["state"], "result": item["result"] or None, "items": kept})
    else:
        print_line(f"{turn}  {item['state']}  {item['result']}".rstrip())


def _more(path: str, position: int, tell: Callable[[str], None]) -> int:
    """Tells the whole lines that were added to a transcript since `position`; returns where the next one begins."""
    if not path:
        return position
    try:
        with Path(path).open("rb") as transcript:
            transcript.seek(position)
            for line in iter(lambda: transcript.readline(READ_BYTES), b""):
                if not line.endswith(b"\n") and len(line) < READ_BYTES:
                    break
                position += len(line)
                tell(line.decode("utf-8", "replace").rstrip("\r\n"))
    except FileNotFoundError:
        return position
    return position
