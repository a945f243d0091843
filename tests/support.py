"""What tests of several rooms share: `require`, the published examples, and a clean environment for child processes.

Tests say `from support import require`: `tests` is on the path (`pythonpath` in pyproject.toml).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
REQUIRE_ALL = "LOOPX_REQUIRE_ALL"


def require(tool: str) -> str:
    """The path of a program the test needs. Absent: the test is skipped, or fails where LOOPX_REQUIRE_ALL=1 (CI)."""
    found = shutil.which(tool)
    if found is None:
        absent(f"{tool} is not on PATH")
    return str(found)


def absent(reason: str) -> None:
    """End the test because something it needs is not here: skip with the reason, fail where LOOPX_REQUIRE_ALL=1."""
    if os.environ.get(REQUIRE_ALL) == "1":
        pytest.fail(f"{reason}, and {REQUIRE_ALL}=1", pytrace=False)
    pytest.skip(reason)


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without any LOOPX_ name, then `extra`: what a child of a test starts with."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("LOOPX_")}
    return {**env, **(extra or {})}


def a26_1() -> Any:
    """The examples of `tests/data/a26_1.json`."""
    return json.loads((ROOT / "tests" / "data" / "a26_1.json").read_text(encoding="utf-8"))
