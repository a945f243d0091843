"""Settings: taste only, in `settings.toml` in the home: the theme, the glyphs, keys of one's own. Never where the ledger is.

A file that cannot be read costs a sentence; nothing in it can change what may happen.
"""

from __future__ import annotations

import errno
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopx_engine import home
from loopx_tui.actions import ACTIONS
from loopx_tui.keys import meet

NAME = "settings.toml"
MOST_BYTES = 64_000
GLYPHS = ("unicode", "narrow", "ascii")


@dataclass(frozen=True)
class Settings:
    """`keys` maps an action to the keys that do it instead of ours; `faults` are sentences about what was not taken."""

    theme: str = ""
    glyphs: str = ""
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


def read_settings(environ: Mapping[str, str]) -> Settings:
    """The settings of this home; what is wrong in them is left out and said."""
    path = home(environ) / NAME
    try:
        said = read_toml(path)
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError, RecursionError) as error:
        return Settings(faults=(f"{NAME}: {error}",))
    faults: list[str] = [
        f"{NAME}: nobody knows '{name[:40]}'" for name in said if name not in ("theme", "glyphs", "keys")
    ]
    return Settings(_word(said, "theme", faults), _glyphs(said, faults), _keys(said.get("keys"), faults), tuple(faults))


def read_toml(path: Path) -> dict[str, Any]:
    """A small TOML file. Raises `OSError`, `RecursionError`, and `ValueError` also for one that is not small."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES} bytes")
    return tomllib.loads(data.decode("utf-8"))


def remember_theme(environ: Mapping[str, str], name: str) -> None:
    """Writes the theme into the file and leaves everything else in it as it is. Raises `OSError`."""
    path = home(environ) / NAME
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    except UnicodeDecodeError:
        raise OSError(errno.EILSEQ, f"{NAME} is not UTF-8") from None
    table = re.search(r"(?m)^\s*\[", text)
    top, rest = (text[: table.start()], text[table.start() :]) if table else (text, "")
    said, count = re.subn(r"(?m)^theme *=.*$", f'theme = "{name}"', top, count=1)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write(path, (said if count else f'theme = "{name}"\n{top}') + rest)


def _write(path: Path, text: str) -> None:
    import os

    fresh = path.with_name(path.name + ".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(fresh, path)


def _word(said: dict[str, object], name: str, faults: list[str]) -> str:
    value = said.get(name, "")
    if isinstance(value, str):
        return value
    faults.append(f"{NAME}: {name} is a word in quotes")
    return ""


def _glyphs(said: dict[str, object], faults: list[str]) -> str:
    value = _word(said, "glyphs", faults)
    if value and value not in GLYPHS:
        faults.append(f"{NAME}: glyphs is one of {', '.join(GLYPHS)}")
        return ""
    return value


def _keys(said: object, faults: list[str]) -> dict[str, tuple[str, ...]]:
    """`[keys]` with an action's name and its keys: `"goal add" = "n"` or a list."""
    if said is None:
        return {}
    if not isinstance(said, dict):
        faults.append(f"{NAME}: [keys] is a table of actions and their keys")
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for action, keys in said.items():
        listed = [keys] if isinstance(keys, str) else keys
        if action not in ACTIONS:
            faults.append(f"{NAME}: there is no action '{str(action)[:40]}'")
        elif not isinstance(listed, list) or not listed or not all(isinstance(key, str) and key for key in listed):
            faults.append(f"{NAME}: the keys of '{action}' are a word or a list of words")
        elif twice := next((other for other in found if meet(action, other) and {*listed} & {*found[other]}), ""):
            faults.append(f"{NAME}: '{action}' and '{twice}' have the same key")
        else:
            found[action] = tuple(listed)
    return found
