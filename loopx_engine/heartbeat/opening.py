"""Opens what an engine needs: the box probed once, the runtimes, the folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loopx_engine.engine import Engine
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.host.paths import key_folder, private_folder
from loopx_engine.places.sandbox import Box, probe
from loopx_engine.runtimes.command import CommandRuntime


def open_heart(
    engine: Engine, home: Path, environ: Mapping[str, str], *, box: Box | None = None, log: Any = None
) -> Heart:
    """The heart of one engine process. `box` overrules the probe (the demo's run without a sandbox)."""
    found = box or probe()
    engine.sandbox = found.kind
    return Heart(
        engine,
        home=private_folder(home),
        keys=key_folder(environ),
        box=found,
        adapters={"command": CommandRuntime()},
        log=log,
    )
