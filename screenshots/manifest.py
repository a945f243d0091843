"""The manifest: which pictures there are, what is shown on each and what must be seen there. Checked whole when it is read."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from loopx_engine.errors import UsageError
from screenshots.scenes import SCENES

FOLDER = Path(__file__).parent
MANIFEST = FOLDER / "manifest.toml"
OURS = "loopx-"
SIZE = re.compile(r"(\d{1,3})x(\d{1,3})")
NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")
VOICES = ("text", "soft", "faint", "accent", "run", "good", "bad")
STEPS = ("see:", "type:")


@dataclass(frozen=True)
class Seen:
    """`text` begins at the cell `at` (column, row) and is drawn in the theme's colour for `voice`."""

    at: tuple[int, int]
    text: str
    voice: str


@dataclass(frozen=True)
class Shot:
    """One picture. `keys` are pressed in order; `see:TEXT` waits until that is shown, `type:TEXT` types it.

    `texts` must be visible somewhere, `cells` exactly there. `engine` is whether an engine holds the ledger meanwhile.
    `machine`: what this machine has (a box) is on it, so its files are not compared elsewhere.
    """

    name: str
    scene: str
    size: tuple[int, int]
    theme: str
    keys: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    cells: tuple[Seen, ...] = field(default=())
    engine: bool = True
    machine: bool = False

    @property
    def stem(self) -> str:
        """The name of its files: `needs-160x48-dark`."""
        return f"{self.name}-{self.size[0]}x{self.size[1]}-{self.theme.removeprefix(OURS)}"

    def file(self, ending: str, folder: Path = FOLDER) -> Path:
        return folder / f"{self.stem}.{ending}"


def shots(path: Path = MANIFEST) -> tuple[Shot, ...]:
    """Every picture of a manifest. Raises `UsageError` (`bad_manifest`), naming the entry and what is wrong with it."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise _bad(path.name, str(error)) from error
    if [*said] != ["pictures"] or not isinstance(said["pictures"], list):
        raise _bad(path.name, "it holds [[pictures]] and nothing else")
    found = tuple(_shot(f"picture {number}", entry) for number, entry in enumerate(said["pictures"], 1))
    stems = [shot.stem for shot in found]
    twice = next((stem for stem in stems if stems.count(stem) > 1), None)
    if twice:
        raise _bad(twice, "is there twice")
    return found


def named(names: list[str], found: tuple[Shot, ...]) -> tuple[Shot, ...]:
    """The pictures with these names or file names, all without any. Raises `UsageError` for a name that is none."""
    for name in names:
        if not any(name in (shot.name, shot.stem) for shot in found):
            known = ", ".join(dict.fromkeys(shot.name for shot in found))
            raise UsageError(f"there is no picture '{name[:60]}'", code="unknown_picture", next=f"one of {known}")
    return tuple(shot for shot in found if not names or shot.name in names or shot.stem in names)


def _shot(where: str, entry: Any) -> Shot:
    if not isinstance(entry, dict):
        raise _bad(where, "is no table")
    where = str(entry.get("name") or where)
    unknown = set(entry) - {item.name for item in fields(Shot)}
    if unknown:
        raise _bad(where, f"has {', '.join(sorted(unknown))}, which nobody knows")
    name, scene, size, theme = (_text(where, entry, key) for key in ("name", "scene", "size", "theme"))
    if not NAME.fullmatch(name):
        raise _bad(where, "is named by a-z, 0-9 and '-'")
    if scene.partition(":")[0] not in SCENES:
        raise _bad(where, f"shows the scene '{scene}', which is none of {', '.join(SCENES)}")
    measured = SIZE.fullmatch(size)
    if not measured:
        raise _bad(where, "has a size like 160x48")
    columns, rows = int(measured[1]), int(measured[2])
    return Shot(
        name=name,
        scene=scene,
        size=(columns, rows),
        theme=theme,
        keys=_texts(where, entry, "keys"),
        texts=_texts(where, entry, "texts"),
        cells=tuple(_seen(where, item, columns, rows) for item in entry.get("cells", ())),
        engine=_switch(where, entry, "engine", True),
        machine=_switch(where, entry, "machine", False),
    )


def _seen(where: str, item: Any, columns: int, rows: int) -> Seen:
    at = item.get("at") if isinstance(item, dict) else None
    if not (isinstance(at, list) and len(at) == 2 and all(isinstance(value, int) for value in at)):
        raise _bad(where, f"has a cell without `at = [column, row]`: {item}")
    text, voice = _text(where, item, "text"), _text(where, item, "voice")
    if voice not in VOICES:
        raise _bad(where, f"has a cell in the voice '{voice}', which is none of {', '.join(VOICES)}")
    if not (0 <= at[0] < columns and 0 <= at[1] < rows):
        raise _bad(where, f"has a cell outside its {columns}x{rows}: {at}")
    return Seen((at[0], at[1]), text, voice)


def _text(where: str, entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise _bad(where, f"says no `{key}`")
    return value


def _texts(where: str, entry: dict[str, Any], key: str) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise _bad(where, f"has no list of texts as `{key}`")
    return tuple(value)


def _switch(where: str, entry: dict[str, Any], key: str, otherwise: bool) -> bool:
    value = entry.get(key, otherwise)
    if not isinstance(value, bool):
        raise _bad(where, f"says `{key}`, which is true or false")
    return value


def _bad(where: str, what: str) -> UsageError:
    return UsageError(f"{where} {what}", code="bad_manifest", next="look at screenshots/manifest.toml")
