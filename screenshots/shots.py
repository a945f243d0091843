"""`python -m screenshots.shots [--check | --move] [NAME...]`: draws the manifest's pictures, or checks what they show.

A picture is named by its name in the manifest (all sizes and themes of it) or by the name of its files.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from loopx_engine.errors import LoopxError
from screenshots import moving
from screenshots.cells import Picture
from screenshots.draw import to_png, to_svg
from screenshots.manifest import FOLDER, MANIFEST, Seen, Shot, named, shots
from screenshots.screen import Maker, take, workspace


def main(
    argv: list[str] | None = None, *, folder: Path = FOLDER, manifest: Path = MANIFEST, maker: Maker = workspace
) -> int:
    """0 when every picture was drawn, or shows what it should; 1 when one does not; 2 where a word is wrong."""
    given = _words().parse_args(argv)
    try:
        wanted = named(given.names, shots(manifest))
        if given.move:
            moving.write(manifest, {shot.stem: _moved(shot, maker) for shot in wanted})
            return 0
        wrong = [words for shot in wanted for words in _done(shot, folder, maker, check=given.check)]
    except LoopxError as error:
        print(f"shots: {error.message}. Next: {error.next}", file=sys.stderr)
        return error.exit_code
    print("\n".join([f"WRONG: {words}" for words in wrong] + [f"{len(wanted)} pictures, {len(wrong)} faults"]))
    return 1 if wrong else 0


def _words() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(
        prog="shots", description="The pictures of the workspace, from screenshots/manifest.toml."
    )
    one = words.add_mutually_exclusive_group()
    one.add_argument(
        "--check", action="store_true", help="draw nothing: say what differs from the manifest and the files"
    )
    one.add_argument(
        "--move", action="store_true", help="after a layout changed: write where the manifest's cells stand now"
    )
    words.add_argument("names", nargs="*", metavar="NAME", help="a picture (all of them)")
    return words


def _done(shot: Shot, folder: Path, maker: Maker, *, check: bool) -> list[str]:
    """Draws or checks one picture; what is wrong with it."""
    with tempfile.TemporaryDirectory(prefix="loopx-shot-") as place:
        picture = take(shot, Path(place) / "ana", maker)
        wrong = [f"{shot.stem}: {words}" for words in faults(picture, shot, Path(place))]
    svg = to_svg(picture)
    if check:
        if not _same(shot.file("svg", folder), svg, shot) or not shot.file("png", folder).is_file():
            wrong.append(f"{shot.stem}: the files are not what is shown now. Next: python3 dev.py shots {shot.stem}")
    else:
        png = to_png(picture)
        shot.file("svg", folder).write_text(svg, encoding="utf-8", newline="\n")
        shot.file("png", folder).write_bytes(png)
    print(f"{'checked' if check else 'drawn'}  {shot.stem}", flush=True)
    return wrong


def _moved(shot: Shot, maker: Maker) -> dict[Seen, tuple[int, int]]:
    """The cells of one picture that stand elsewhere now."""
    with tempfile.TemporaryDirectory(prefix="loopx-shot-") as place:
        picture = take(shot, Path(place) / "ana", maker)
    found = moving.places(picture, shot, _colours(shot.theme))
    print(f"{len(found)} cells moved  {shot.stem}", flush=True)
    return found


def faults(picture: Picture, shot: Shot, place: Path) -> list[str]:
    """What the picture lacks of what the manifest says is seen, and what of this machine is on it."""
    found = [f"'{text}' is not on it" for text in shot.texts if not picture.shows(text)]
    colours = _colours(shot.theme) if shot.cells else {}
    for seen in shot.cells:
        glyphs = picture.glyphs_at(*seen.at, seen.text)
        said = "".join(glyph.text if glyph else " " for glyph in glyphs)
        where = f"at {seen.at[0]},{seen.at[1]}"
        if said != seen.text:
            now = ", ".join(f"{column},{row}" for column, row in picture.places(seen.text)[:3])
            found.append(f"{where} stands '{said}', not '{seen.text}', which is {f'at {now}' if now else 'nowhere'}")
            continue
        inks = {glyph.ink.colour for glyph in glyphs if glyph}
        if inks != {colours[seen.voice]}:
            found.append(f"{where} '{seen.text}' is {_voices(inks, colours)}, not {seen.voice}")
    if picture.shows(place.name) or picture.shows(str(place.parent) + "/"):
        found.append("a path of this machine is on it")
    return found


def _colours(theme: str) -> dict[str, str]:
    """The colours of a theme of ours by role."""
    from loopx_tui.themes import own_folder, own_palettes

    found, _ = own_palettes(own_folder())
    return next(dict(palette.colours) for palette in found if palette.name == theme)


def _voices(inks: set[str], colours: dict[str, str]) -> str:
    names = {colour: voice for voice, colour in reversed(colours.items())}
    return " and ".join(sorted(names.get(ink, ink) for ink in inks)) or "nothing"


def _same(file: Path, text: str, shot: Shot) -> bool:
    return file.is_file() and (shot.machine or file.read_bytes() == text.encode("utf-8"))


if __name__ == "__main__":
    raise SystemExit(main())
