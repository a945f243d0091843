"""The environment of a child, built from nothing: an allow-list, never a copy of ours."""

from __future__ import annotations

import os
from collections.abc import Mapping

TAG_NAME = "LOOPX_TAG"
ALLOWED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TERM", "TZ", "TMPDIR",
    "SYSTEMROOT", "COMSPEC", "PATHEXT", "WINDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
)  # fmt: skip
QUIET = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
PLAIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def child_environment(extra: Mapping[str, str], *, inherit: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a turn's process gets: the allowed names of `inherit` (ours), and `extra` on top."""
    source = os.environ if inherit is None else inherit
    kept = {name: source[name] for name in ALLOWED if name in source}
    kept.setdefault("PATH", PLAIN_PATH)
    return {**kept, **QUIET, **extra}


def check_environment(inherit: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a check or set-up gets: fewer names, a fixed language; what it needs besides stands in the ledger."""
    source = os.environ if inherit is None else inherit
    names = ("PATH", "HOME", "USER", "LOGNAME", "TZ", "SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE")
    kept = {name: source[name] for name in names if name in source}
    kept.setdefault("PATH", PLAIN_PATH)
    return {**kept, **QUIET, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "dumb", "CI": "1"}
