"""`loopx doctor`: what this installation is and what it lacks; a problem, its effect, one command."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.cli.verbs import json_option
from loopx_engine.errors import LoopxError

LIMITS = (
    "A program under your own account and outside a sandbox can press keys in another terminal, replace the installed "
    "LoopX, read an unsealed key, read memory, and delete or wholly replace the ledger. A passphrase stops the key being "
    "copied, no more. A sandbox or another account stops the rest; without one, treat high decisions as advisory."
)
LOW_DISK = 200_000_000


def doctor() -> click.Command:
    """`loopx doctor`."""

    @click.command("doctor", help="What is found here and what is missing; exit 9 with findings.")
    def command(as_json: bool) -> int | None:
        rows = [_safe(check) for check in CHECKS]
        bad = [row for row in rows if not row["ok"]]
        if as_json:
            print_json("doctor", {"sound": not bad, "items": rows, "limits": LIMITS})
        else:
            for row in rows:
                print_line(f"{'✓' if row['ok'] else '✗'} {row['name']:<10} {row['text']}")
                if not row["ok"] and row["next"]:
                    print_line(f"  {'':<10} next: {row['next']}")
            print_line()
            for line in textwrap.wrap(LIMITS, 80):
                print_line(line)
        return 9 if bad else None

    command.params.append(json_option())
    return command


def _row(name: str, ok: bool, text: str, next_step: str = "") -> dict[str, Any]:
    return {"name": name, "ok": ok, "text": text, "next": next_step}


def _safe(check: Any) -> dict[str, Any]:
    try:
        return dict(check())
    except LoopxError as error:
        return _row(check.__name__.strip("_"), False, error.message, error.next)


def _python() -> dict[str, Any]:
    return _row("python", sys.version_info >= (3, 11), sys.version.split()[0], "install Python 3.11 or newer")


def _sqlite() -> dict[str, Any]:
    from loopx_engine.ledger.driver import sqlite3, wal_race

    version = sqlite3.sqlite_version
    raced = wal_race(version)
    mode = "checkpoints only under the writer lock (this version has the WAL-reset race)" if raced else "fixed version"
    return _row("sqlite", True, f"{version} by {sqlite3.__name__}, {mode}")


def _sandbox() -> dict[str, Any]:
    from loopx_engine.places.sandbox import probe

    box = probe()
    text = box.kind if box.kind != "none" else f"not sandboxed: {box.reason}"
    return _row("sandbox", box.kind != "none", text, "install bubblewrap (Linux), for example: apt install bubblewrap")


def _git() -> dict[str, Any]:
    found = shutil.which("git")
    return _row("git", bool(found), found or "not found", "install git")


def _owner() -> dict[str, Any]:
    import os

    from loopx_engine.consent.keys import public_key, sealed
    from loopx_engine.host.paths import key_folder

    folder = key_folder(os.environ)
    key = public_key(folder)
    if key is None:
        return _row("owner key", False, "there is none yet", "loopx owner init")
    return _row("owner key", True, f"{key.id}, {'sealed by a passphrase' if sealed(folder) else 'not sealed'}")


def _ledger() -> dict[str, Any]:
    from loopx_engine.cli.keeping import problems_of
    from loopx_engine.cli.owner import local

    engine = local().reading
    problems = problems_of(engine)
    text = f"{engine.ledger.last_seq()} receipts, incarnation {engine.ledger.incarnation}"
    return _row("ledger", not problems, text if not problems else problems[0]["what"], "loopx verify")


def _engine() -> dict[str, Any]:
    from loopx_engine.cli.owner import local
    from loopx_engine.desk.background import engine_runs
    from loopx_engine.desk.opening import engine_lock

    runs = engine_runs(engine_lock(local().environ))
    return _row("engine", True, "running" if runs else "not running (loopx-engine run)")


def _disk() -> dict[str, Any]:
    from loopx_engine.cli.owner import local

    folder = local().home
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    return _row("disk", free > LOW_DISK, f"{free // 1_000_000} MB free", "make room")


def _name() -> dict[str, Any]:
    first = shutil.which("loopx")
    return _row("loopx", True, f"first on PATH: {first}" if first else "not on PATH")


CHECKS = (_python, _git, _sqlite, _sandbox, _owner, _ledger, _engine, _disk, _name)
