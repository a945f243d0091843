"""Styling: the theme in force, its painter, and how a theme is taken up. A theme file with errors costs one sentence."""

from __future__ import annotations

import locale
import os
from typing import Any

from textual.app import App
from textual.theme import Theme

from loopx_engine import home
from loopx_tui import themes
from loopx_tui.settings import read_settings
from loopx_tui.widgets.paint import Painter


class Styling(App[Any]):
    """Mixed into the application: palettes by name, `painter()`, and the variables of the style sheet."""

    environ: dict[str, str]
    palettes: dict[str, themes.Palette]

    def begin_style(self, theme: str) -> None:
        """Reads our themes, registers them, and takes up the one asked for, the one remembered, or the default."""
        self.settings = read_settings(self.environ)
        self.palettes, wrong = themes.palettes([themes.own_folder(), home(self.environ) / "themes"])
        self.faults = [*self.settings.faults, *wrong]
        for palette in self.palettes.values():
            self.register_theme(themes.textual_theme(palette))
        self._painter: Painter | None = None
        wanted = theme or self.settings.theme
        if wanted and wanted not in self.available_themes:
            self.faults.append(f"there is no theme '{wanted[:40]}'")
        self.theme = wanted if wanted in self.available_themes else themes.DEFAULT

    @property
    def palette(self) -> themes.Palette:
        """The palette of the theme in force."""
        return self._palette_of(self.current_theme)

    def _palette_of(self, theme: Theme) -> themes.Palette:
        if theme.name not in self.palettes:
            self.palettes[theme.name] = themes.palette_from(theme)
        return self.palettes[theme.name]

    def painter(self) -> Painter:
        """The painter of the theme in force."""
        if self._painter is None or self._painter.palette.name != self.theme:
            self._painter = Painter(self.palette, glyphs=self.settings.glyphs or glyphs_of_terminal(self.environ))
        return self._painter

    def get_css_variables(self) -> dict[str, str]:
        found = super().get_css_variables()
        theme = self.current_theme
        return {**found, **themes.css_variables(self._palette_of(theme))} if hasattr(self, "palettes") else found

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {**super().get_theme_variable_defaults(), **themes.css_variables(themes.FALLBACK)}

    def watch_theme(self, name: str) -> None:
        for widget in self.query("VirtualList, Lines") if self.is_running else ():
            widget.restyle()  # type: ignore[attr-defined]


def glyphs_of_terminal(environ: dict[str, str]) -> str:
    """Which glyphs this terminal draws one cell wide: by its encoding, and by the language its owner reads."""
    encoding = locale.getpreferredencoding(False) if os.name != "nt" else "utf-8"
    if "utf" not in encoding.lower():
        return "ascii"
    language = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return "narrow" if language[:2] in ("ja", "ko", "zh") else "unicode"
