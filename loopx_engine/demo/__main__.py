"""`python -m loopx_engine.demo`: tells the story as it happens; in a terminal `--workspace MODULE` opens that on it instead.

The exit code is the result. However it ends - done, left, Ctrl-C, SIGTERM, a closed terminal - nothing of it stays.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from loopx_engine.demo.by_hand import by_hand
from loopx_engine.demo.leaving import end_processes, ended_by_signals, remove
from loopx_engine.demo.stage import Stage
from loopx_engine.demo.story import Story
from loopx_engine.errors import LoopxError

LONGEST = 300


def main() -> int:
    """0 when the told goal is done and proved, or nothing is broken where a person left it; 1 otherwise."""
    given = _words().parse_args()
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    folder = _temporary() / f"loopx-demo-{secrets.token_hex(4)}"
    by_person = bool(given.workspace) and not given.tell and _seen()
    stage: Stage | None = None
    try:
        with ended_by_signals():
            folder.mkdir(mode=0o700)
            stage = Stage(folder)
            if by_person:
                return 0 if by_hand(stage, given.workspace, sandbox=not given.no_sandbox) else 1
            return 0 if Story(stage, sandbox=not given.no_sandbox).run() else 1
    except LoopxError as error:
        print(f"demo: {error.message}" + (f". Next: {error.next}" if error.next else ""), file=sys.stderr)
        return 1
    finally:
        with suppress(OSError):  # the terminal may be closed
            left = _leave(folder, stage, keep=given.keep)
            if left or by_person:
                print(left or "engine, folder and throw-away key are gone", flush=True)


def _words() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(prog="demo", description="One goal on a real git project, to proven done.")
    words.add_argument("--no-sandbox", action="store_true", help="run without a box, and say so")
    words.add_argument("--keep", action="store_true", help="keep the temporary folder")
    words.add_argument("--tell", action="store_true", help="tell the story, also where the workspace could be opened")
    words.add_argument("--workspace", metavar="MODULE", help="what a terminal shows: the workspace to answer in")
    return words


def _seen() -> bool:
    """Whether somebody sits at a terminal that can show a screen."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def _temporary() -> Path:
    """The temporary folder of this environment; the usual one where its name is past what git and SQLite can work with."""
    given = Path(tempfile.gettempdir()).resolve()
    fits = str(given).isprintable() and len(os.fsencode(given)) <= LONGEST
    return given if fits or os.name == "nt" else Path("/tmp").resolve()


def _leave(folder: Path, stage: Stage | None, *, keep: bool) -> str:
    """Ends what still runs, and removes the folder; what is to be said of one that stays."""
    end_processes(folder / "home", stage.tag if stage else "")
    if keep:
        return f"kept: {folder}"
    return "" if remove(folder, folder / "home") else f"could not be removed: {folder}"


if __name__ == "__main__":
    raise SystemExit(main())
