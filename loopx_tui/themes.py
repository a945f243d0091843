"""Themes: our own TOML files and all of Textual's, each as one palette of roles that every line is painted with.

A file of one's own in the settings folder's `themes/` is checked whole; one with errors costs a sentence, never the screen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.theme import BUILTIN_THEMES, Theme

from loopx_tui.settings import read_toml
from loopx_tui.state.palette import ANSI, CHIPS, GROUNDS, ROLES, VOICES, derived

DEFAULT, DEFAULT_LIGHT = "loopx-dark", "loopx-light"
HEX = re.compile(r"#[0-9a-fA-F]{6}")
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")


class ThemeError(ValueError):
    """A theme file that cannot be used; says what is wrong in which file."""


@dataclass(frozen=True)
class Palette:
    """Colours by role: `#rrggbb`, or a terminal's own colour name where the theme keeps to those."""

    name: str
    dark: bool
    colours: dict[str, str]
    ansi: bool = False


FALLBACK = Palette("plain", True, derived("#101010", "#e0e0e0", "#e0b060", "#70b0f0", "#80c080", "#f07070"))


def own_folder() -> Path:
    """Where our theme files are: in the installed package, or in the checkout."""
    inside = Path(__file__).with_name("_themes")
    return inside if inside.is_dir() else Path(__file__).parent.parent / "themes"


def own_palettes(folder: Path) -> tuple[list[Palette], list[str]]:
    """The palettes of a folder's files, and one sentence for each file that is none."""
    found, wrong = [], []
    for path in sorted(folder.glob("*.toml")) if folder.is_dir() else []:
        try:
            found.append(read_palette(path))
        except ThemeError as error:
            wrong.append(str(error))
    return found, wrong


def read_palette(path: Path) -> Palette:
    """The palette of a theme file. Raises `ThemeError`."""
    try:
        said = read_toml(path)
    except (OSError, ValueError, RecursionError) as error:
        raise ThemeError(f"{path.name}: {error}") from None
    return palette_of(path.name, said)


def palette_of(where: str, said: dict[str, Any]) -> Palette:
    """The palette that a theme file's content describes. Raises `ThemeError` naming the first fault."""
    name = said.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ThemeError(f"{where}: `name` is a word of a-z, 0-9 and '-'")
    if not isinstance(said.get("dark"), bool):
        raise ThemeError(f"{where}: `dark` is true or false")
    colours = {}
    for table, roles, suffix in (("colors", (*GROUNDS, *VOICES), ""), ("chips", CHIPS, "_ground")):
        given = said.get(table)
        if not isinstance(given, dict):
            raise ThemeError(f"{where}: the table [{table}] is missing")
        for role in roles:
            colour = given.get(role)
            if not isinstance(colour, str) or not HEX.fullmatch(colour):
                raise ThemeError(f"{where}: [{table}] {role} is a colour like #d5dae1")
            colours[role + suffix] = colour.lower()
    return Palette(name, said["dark"], colours)


def textual_theme(palette: Palette) -> Theme:
    """Our palette as a theme of Textual's."""
    colours = palette.colours
    return Theme(
        name=palette.name,
        dark=palette.dark,
        primary=colours["run"],
        secondary=colours["soft"],
        accent=colours["accent"],
        foreground=colours["text"],
        background=colours["ground"],
        surface=colours["raised"],
        panel=colours["side"],
        success=colours["good"],
        warning=colours["accent"],
        error=colours["bad"],
    )


def palette_from(theme: Theme) -> Palette:
    """The roles of a theme that is not ours."""
    if theme.ansi:
        return Palette(theme.name, theme.dark, dict(ANSI), ansi=True)
    system = theme.to_color_system().generate()
    six = [_hex(system[name]) for name in ("background", "foreground", "warning", "primary", "success", "error")]
    return Palette(theme.name, theme.dark, derived(*six))


def palettes(folders: list[Path]) -> tuple[dict[str, Palette], list[str]]:
    """Every palette by name, ours first, and what is wrong with the files in these folders."""
    found: dict[str, Palette] = {}
    wrong: list[str] = []
    for folder in folders:
        ours, faults = own_palettes(folder)
        found |= {item.name: item for item in ours}
        wrong += faults
    return found, wrong


def textual_names() -> list[str]:
    """The themes Textual brings."""
    return list(BUILTIN_THEMES)


def css_variables(palette: Palette) -> dict[str, str]:
    """The roles as variables for the style sheets: `$x-ground`, `$x-side`, ..."""
    return {f"x-{role.replace('_', '-')}": _css(palette, role) for role in ROLES}


def _css(palette: Palette, role: str) -> str:
    colour = palette.colours[role]
    return f"ansi_{colour}" if palette.ansi else colour


def _hex(colour: str) -> str:
    from textual.color import Color

    return Color.parse(colour).hex6.lower()
