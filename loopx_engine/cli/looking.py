"""`loopx follow`, `diff` and `place GOAL`: the live output of a turn, what a branch changed, and where it is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.errors import NotFound, Refused
from loopx_engine.model.ids import expect

POLL_S = 0.25
DIFF_BYTES = 1_000_000
READ_BYTES = 64_000


def follow() -> click.Command:
    """`loopx follow [GOAL]`."""

    @click.command("follow", help="The live output of a running turn, until it ends.")
    @click.argument("goal", required=False)
    def command(goal: str | None) -> None:
        from loopx_engine.cli.owner import local

        _follow(local(), goal)

    return command


def diff() -> click.Command:
    """`loopx diff GOAL`."""

    @click.command("diff", help="What a goal's branch and place changed since its base.")
    @click.argument("goal")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(goal: str, as_json: bool) -> None:
        from loopx_engine.places.commits import diff_text, log

        place = _place(goal)
        if not place["branch"]:
            raise Refused(f"{goal} works in a directory without git", code="no_repository", next=f"loopx place {goal}")
        text = diff_text(Path(place["path"]), place["base"], DIFF_BYTES)
        commits = log(Path(place["path"]), place["branch"], place["base"])
        if as_json:
            listed = [{"commit": item.sha, "subject": item.subject, "trailers": dict(item.trailers)} for item in commits]
            print_json("diff", {"goal": goal, "branch": place["branch"], "items": listed, "diff": text})
            return
        for item in reversed(commits):
            print_line(f"{item.sha[:10]}  {item.trailers.get('LoopX-Todo', ''):<6} {item.subject}")
        for line in text.splitlines():
            print_line(line)

    return command


def place() -> click.Command:
    """`loopx place GOAL`."""

    @click.command("place", help="Where a goal's turns run.")
    @click.argument("goal")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(goal: str, as_json: bool) -> None:
        found = _place(goal)
        print_json("place", found) if as_json else print_line(found["path"])

    return command


def _place(goal: str) -> dict[str, Any]:
    from loopx_engine.cli.caller import caller

    expect(goal, "goal")
    places = caller().read("show", id=goal)["related"]["places"]
    if not places:
        raise NotFound(f"{goal} has no place yet", code="no_place", next="loopx-engine run prepares it")
    return dict(next((item for item in places if item["state"] == "ready"), places[0]))


def _follow(found: Any, goal: str | None) -> None:
    running = [item for item in found.read("status")["running"] if not goal or item["goal"] == goal]
    if not running:
        raise NotFound("no turn is running", code="no_turn", next="loopx status")
    turn = running[0]["turn"]
    item = found.read("show", id=turn)["item"]
    print_line(f"{turn}  {running[0]['actor']}  {running[0]['title_todo']}")
    position = 0
    while True:
        live = item["state"] in ("open", "finishing")
        position = _more(item["transcript"], position)
        if not live:
            print_line(f"{turn} {item['state']} {item['result']}")
            return
        time.sleep(POLL_S)
        item = found.read("show", id=turn)["item"]


def _more(path: str, position: int) -> int:
    """Prints what was added to a transcript since `position`; returns where it ends now."""
    if not path:
        return position
    try:
        with Path(path).open("rb") as transcript:
            transcript.seek(position)
            while data := transcript.read(READ_BYTES):
                position += len(data)
                for line in data.decode("utf-8", "replace").splitlines():
                    print_line(line)
    except FileNotFoundError:
        return position
    return position
