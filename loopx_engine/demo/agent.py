"""A small honest agent: reads the packet, edits files, asks before it acts outside, says what it did (JOURNEYS.md 3).

It is a program of its own and imports nothing but the standard library. It edits by fixed recipes, one a todo, because
the demo shows the control plane, not a model; whether its edits are right is found by the checks alone. `--slowly` takes
its time, so that a person can follow; `--dies-once` kills itself in the middle of a turn, else it waits there to be killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

STEP_S = 1.5 if "--slowly" in sys.argv else 0.0
DIES_ONCE = "--dies-once" in sys.argv
TOTALS = '''"""What a basket costs, in cents."""


def total(lines):
    """Sum of price times quantity."""
    return sum(price * quantity for price, quantity in lines)
'''
ROUNDING_WRONG = '''"""Rounding of prices."""


def to_tens(cents):
    return round(cents, -1)
'''
ROUNDING = '''"""Rounding of prices."""


def to_tens(cents):
    """To the nearest ten cents, half up."""
    return (cents + 5) // 10 * 10
'''
DISCOUNT_HALF = '''"""Discounts by amount, in cents."""

STEPS = [(10000, 10), (5000, 5)]
'''
DISCOUNT_REST = '''

def discount(cents):
    """The discount of the highest step that is reached."""
    for least, percent in STEPS:
        if cents >= least:
            return cents * percent // 100
    return 0
'''


def say(**message: object) -> None:
    print(json.dumps(message), flush=True)


def hear() -> dict[str, Any]:
    line = sys.stdin.readline()
    return json.loads(line) if line else {"type": "closed"}


def main() -> None:
    packet = hear()
    todo = packet["todo"]
    say(type="note", text=f"working on: {todo['title']}")
    time.sleep(STEP_S)
    {"totals": totals, "rounding": rounding, "discount": discount, "changelog": changelog}[recipe(todo["title"])](
        packet
    )


def recipe(title: str) -> str:
    words = {"quantities": "totals", "half up": "rounding", "discount": "discount", "changelog": "changelog"}
    return next(name for word, name in words.items() if word in title)


def totals(packet: dict[str, Any]) -> None:
    Path("totals.py").write_text(TOTALS, encoding="utf-8")
    finish("the total now multiplies by the quantity")


def rounding(packet: dict[str, Any]) -> None:
    Path("rounding.py").write_text(ROUNDING_WRONG, encoding="utf-8")
    finish("rounding is done", mend=lambda: Path("rounding.py").write_text(ROUNDING, encoding="utf-8"))


def discount(packet: dict[str, Any]) -> None:
    path = Path("discount.py")
    if not path.exists():
        path.write_text(DISCOUNT_HALF, encoding="utf-8")
        say(type="note", text="half of it is written")
        time.sleep(STEP_S)
        while True:
            if DIES_ONCE:
                os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
            time.sleep(1)
    say(type="note", text="found my half-written file, writing the rest")
    path.write_text(path.read_text(encoding="utf-8") + DISCOUNT_REST, encoding="utf-8")
    finish("the discount rules are complete")


def changelog(packet: dict[str, Any]) -> None:
    Path("CHANGELOG.md").write_text("# Changes\n\n- totals, rounding and discounts are right\n", encoding="utf-8")
    goal = packet["goal"]["id"]
    preview = {"action": "push", "remote": "origin", "ref": f"preview/{goal}"}
    say(
        type="ask",
        id="preview",
        question="push the proved commits to a preview branch",
        why="so that others see them",
        effect=preview,
    )
    say(type="note", text=f"preview: {answer('preview')}")
    release = {"action": "push", "remote": "origin", "ref": "main"}
    say(
        type="ask",
        id="release",
        question="push the proved commits to main",
        why="everything before is proved",
        effect=release,
    )
    said = answer("release")
    finish(f"changelog written; main: {said}")


def answer(ref: str) -> str:
    while True:
        message = hear()
        if message["type"] == "closed":
            raise SystemExit(1)
        if message["type"] == "answer" and message["ask"] == ref:
            return str(message["option"])


def finish(summary: str, mend: object = None) -> None:
    say(type="usage", input=1200, output=150)
    say(type="result", outcome="done", summary=summary, no_successor="the next todo is in the plan")
    while True:
        message = hear()
        if message["type"] == "refused" and callable(mend):
            say(type="note", text="the check says no; mending it")
            time.sleep(STEP_S)
            mend()
            say(type="result", outcome="done", summary="mended", no_successor="the next todo is in the plan")
        elif message["type"] != "refused":
            return
        else:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
