"""Moving the manifest's cells after a layout changed: each to the nearest place where its text stands in its voice.

What is nowhere in that voice stays as it is, so that the check still names it. Everything else of the file is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from screenshots.cells import Picture
from screenshots.manifest import Seen, Shot, shots

TABLE = "[[pictures]]"


def places(picture: Picture, shot: Shot, colours: Mapping[str, str]) -> dict[Seen, tuple[int, int]]:
    """Where each cell of a picture stands now, for those that moved."""
    found = {}
    for seen in shot.cells:
        here = [at for at in picture.places(seen.text) if _inks(picture, at, seen.text) == {colours[seen.voice]}]
        if here and seen.at not in here:
            found[seen] = min(here, key=lambda at: (abs(at[1] - seen.at[1]), abs(at[0] - seen.at[0])))
    return found


def write(manifest: Path, moved: Mapping[str, Mapping[Seen, tuple[int, int]]]) -> None:
    """Writes the new places, by the stem of their picture."""
    head, *tables = manifest.read_text(encoding="utf-8").split(TABLE)
    for number, shot in enumerate(shots(manifest)):
        for seen, at in moved.get(shot.stem, {}).items():
            tables[number] = tables[number].replace(_written(seen, seen.at), _written(seen, at), 1)
    manifest.write_text(TABLE.join([head, *tables]), encoding="utf-8", newline="\n")


def _written(seen: Seen, at: tuple[int, int]) -> str:
    return f'{{ at = [{at[0]}, {at[1]}], text = "{seen.text}", voice = "{seen.voice}" }}'


def _inks(picture: Picture, at: tuple[int, int], text: str) -> set[str]:
    return {glyph.ink.colour for glyph in picture.glyphs_at(*at, text) if glyph}
