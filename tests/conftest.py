"""Every test runs with a home of its own and no setting of the person who runs it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import pytest
from support import REQUIRE_ALL

SNAPSHOTS = "TEXTUAL_SNAPSHOT_TEMPDIR"


class Home(NamedTuple):
    """The two folders of a person: `data` is LOOPX_HOME, `keys` is LOOPX_KEYS. Neither exists yet."""

    data: Path
    keys: Path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """LOOPX_HOME and LOOPX_KEYS below `tmp_path`; every other LOOPX_ name, and what changes a screen, is gone."""
    for name in [*os.environ]:
        if name.startswith(("LOOPX_", "TEXTUAL_")) and name not in (REQUIRE_ALL, SNAPSHOTS):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    found = Home(tmp_path / "loopx-home", tmp_path / "loopx-keys")
    monkeypatch.setenv("LOOPX_HOME", str(found.data))
    monkeypatch.setenv("LOOPX_KEYS", str(found.keys))
    return found
