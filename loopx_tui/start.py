"""Starting the workspace: the environment of this process, one application, and what is said once it was left."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path


def start() -> int:
    """Runs the workspace until it is left; its exit code."""
    gc.disable()
    from loopx_engine import LoopxError
    from loopx_tui.app import Workspace

    try:
        app = Workspace(dict(os.environ), here=_here())
    except LoopxError as error:
        print(f"loopx: {error.message}" + (f"\nnext: {error.next}" if error.next else ""), file=sys.stderr)
        return int(error.exit_code)
    gc.freeze()
    gc.enable()
    code = app.run()
    if app.engine_started is not None:
        print(f"the engine goes on in the background (pid {app.engine_started}); loopx stop --all ends what it runs")
    if app.crash:
        print(f"loopx: {app.crash}", file=sys.stderr)
        return 1
    return code or app.return_code or 0


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return ""
