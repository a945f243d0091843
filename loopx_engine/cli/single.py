"""The commands that are one word: answer, stop, undo, verify, backup, restore, doctor, follow, diff, and `place GOAL`."""

from __future__ import annotations

from importlib import import_module

import click

HOMES = {
    "answer": "answering:answer",
    "stop": "stopping:stop",
    "undo": "stopping:undo",
    "verify": "keeping:verify",
    "backup": "keeping:backup",
    "restore": "keeping:restore",
    "doctor": "doctor:doctor",
    "follow": "looking:follow",
    "diff": "looking:diff",
    "place": "looking:place",
}


def single_command(name: str) -> click.Command:
    """The command with this name."""
    module, _, function = HOMES[name].partition(":")
    made: click.Command = getattr(import_module(f"loopx_engine.cli.{module}"), function)()
    return made
