"""What is found on this machine before the first goal: the key, the box, the project here, and the agents' own programs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from loopx_engine.errors import LoopxError

RUNTIMES = (
    ("claude", "npm i -g @anthropic-ai/claude-code"),
    ("codex", "npm i -g @openai/codex"),
    ("opencode", "npm i -g opencode-ai"),
)
VERSION_WITHIN_S = 5.0


def machine(here: str) -> list[dict[str, Any]]:
    """Rows `{mark, name, text, hint}`: what is there, and the command that brings what is not."""
    return [_project(here), _box(), *(_runtime(name, hint) for name, hint in RUNTIMES)]


def _row(good: bool, name: str, text: str, hint: str = "") -> dict[str, Any]:
    return {"mark": "good" if good else "faint", "name": name, "text": text, "hint": hint}


def _project(here: str) -> dict[str, Any]:
    from loopx_engine.places.repository import find_repository

    try:
        found = find_repository(Path(here)) if here else None
    except LoopxError as error:
        return _row(False, "project", error.message, error.next)
    if found is None:
        return _row(False, "project", "this directory is in no git repository", "git init")
    return _row(True, "project", found.root.name, "git")


def _box() -> dict[str, Any]:
    from loopx_engine.places.sandbox import probe

    box = probe()
    if box.kind == "none":
        return _row(False, "sandbox", f"not sandboxed: {box.reason}", "apt install bubblewrap")
    return _row(True, "sandbox", box.kind, "turns and checks run in it")


def _runtime(name: str, hint: str) -> dict[str, Any]:
    path = shutil.which(name)
    if path is None:
        return _row(False, name, "not found", hint)
    try:
        said = subprocess.run(
            [path, "--version"], capture_output=True, timeout=VERSION_WITHIN_S, stdin=subprocess.DEVNULL, check=False
        )
        version = said.stdout.decode("utf-8", "replace").strip().splitlines()
    except (OSError, subprocess.TimeoutExpired):
        version = []
    return _row(True, name, version[0][:40] if version else "found, its version is unknown")
