"""The environment of a child, built from nothing by an allow-list: never a copy of ours (PAINS.md A32.2).

No name of the key folder, the ledger or a credential is on the list; what a turn needs besides is handed in as `extra`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from loopx_engine.consent.ancestry import TAG_NAME
from loopx_engine.errors import Fault

__all__ = ["TAG_NAME", "acts_on_loader", "check_environment", "child_environment"]

PERSON = ("HOME", "USER", "LOGNAME")
WINDOWS = ("SYSTEMROOT", "COMSPEC", "PATHEXT", "WINDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA")
# XDG_* is left out: XDG_RUNTIME_DIR leads to agents' and keyrings' sockets, the others to folders a box does not show.
TURN = (*PERSON, *WINDOWS, "SHELL", "LANG", "LANGUAGE", "TERM", "COLORTERM", "TZ", "TMPDIR")
CHECK = (*PERSON, *WINDOWS)
NEVER = ("LOOPX_KEYS", "LOOPX_HOME", "LOOPX_LEDGER", "LOOPX_PASSPHRASE_FD")
QUIET = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
FIXED = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "dumb", "TZ": "UTC", "CI": "1"}
PLAIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LOADER = ("GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH")


def child_environment(extra: Mapping[str, str], *, inherit: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a turn's process gets: the allowed names of `inherit` (by default ours), then `extra`.

    Raises `Fault` (`forbidden_environment`) where `extra` names keys, ledger or home, or what the loader acts on: those
    would reach the program that makes the box, outside it.
    """
    bad = [name for name in extra if name in NEVER or acts_on_loader(name)]
    if bad:
        raise Fault(f"a child's environment never names {', '.join(bad)}", code="forbidden_environment")
    source = os.environ if inherit is None else inherit
    kept = {name: value for name, value in source.items() if name in TURN or name.startswith("LC_")}
    return {**kept, "PATH": plain_path(source), **QUIET, **extra}


def check_environment(inherit: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a check or set-up gets: fewer names, language and zone fixed; what it needs besides stands in the ledger."""
    source = os.environ if inherit is None else inherit
    kept = {name: source[name] for name in CHECK if name in source}
    temporary = {} if os.name == "nt" else {"TMPDIR": "/tmp"}
    return {**kept, "PATH": plain_path(source), **temporary, **QUIET, **FIXED}


def plain_path(source: Mapping[str, str]) -> str:
    """The PATH without empty and relative entries: with those a program of the place would be taken for another."""
    entries = [entry for entry in source.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
    return os.pathsep.join(dict.fromkeys(entries)) or PLAIN_PATH


def acts_on_loader(name: str) -> bool:
    """Whether a variable changes which code a starting program loads."""
    return name.startswith(("LD_", "DYLD_")) or name in LOADER
