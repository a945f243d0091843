"""`python -m loopx_engine.demo`: tells the story as it happens; the exit code is the result."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from loopx_engine.demo.story import Story


def main() -> int:
    """0 when the goal is done, its criteria are met and every receipt verifies; 1 otherwise."""
    parser = argparse.ArgumentParser(prog="demo", description="One goal on a real git project, to proven done.")
    parser.add_argument("--no-sandbox", action="store_true", help="run without a box, and say so")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")
    given = parser.parse_args()
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    folder = Path(tempfile.mkdtemp(prefix="loopx-demo-")).resolve()
    try:
        return 0 if Story(folder, sandbox=not given.no_sandbox).run() else 1
    finally:
        if given.keep:
            print(f"kept: {folder}", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    raise SystemExit(main())
