"""Themes: ours are whole and as legible as they promise; a file with errors costs one sentence naming it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.theme import BUILTIN_THEMES

from loopx_tui.state.palette import CHIPS, GROUNDS, ROLES, VOICES
from loopx_tui.themes import (
    DEFAULT,
    DEFAULT_LIGHT,
    FALLBACK,
    ThemeError,
    css_variables,
    own_folder,
    own_palettes,
    palette_from,
    palette_of,
    palettes,
    read_palette,
    textual_names,
    textual_theme,
)

OURS = {DEFAULT, DEFAULT_LIGHT, "loopx-contrast-dark", "loopx-contrast-light"}
FILES = sorted(own_folder().glob("*.toml"))
STOOD_ON = ("ground", "side", "raised", "select")
STATES = ("accent", "run", "good", "bad")
LOOK = {"text": 10.7, "soft": 6.7, "accent": 5.2, "run": 5.2, "good": 5.2, "bad": 5.2, "faint": 4.0}
HIGH = dict.fromkeys(LOOK, 7.0)
WHOLE: dict[str, Any] = tomllib.loads(FILES[0].read_text(encoding="utf-8"))


def channel(value: int) -> float:
    share = value / 255
    return float(share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4)


def light(colour: str) -> float:
    """The relative luminance of `#rrggbb` (WCAG)."""
    red, green, blue = (channel(int(colour[at : at + 2], 16)) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as it is published: to one decimal."""
    low, high = sorted((light(one), light(other)))
    return round((high + 0.05) / (low + 0.05), 1)


def test_the_measure_knows_its_ends() -> None:
    assert contrast("#000000", "#ffffff") == 21.0
    assert contrast("#777777", "#777777") == 1.0


def test_ours_are_these_four_and_without_a_fault() -> None:
    found, wrong = own_palettes(own_folder())
    assert ({palette.name for palette in found}, wrong) == (OURS, [])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_theme_of_ours_has_every_role_and_the_name_of_its_file(path: Path) -> None:
    palette = read_palette(path)
    assert palette.name == path.stem
    assert set(palette.colours) == set(ROLES)
    assert palette.dark is (light(palette.colours["ground"]) < light(palette.colours["text"]))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("voice", LOOK)
def test_every_voice_can_be_read_on_every_ground(path: Path, voice: str) -> None:
    colours = read_palette(path).colours
    wanted = (HIGH if "contrast" in path.stem else LOOK)[voice]
    assert min(contrast(colours[voice], colours[ground]) for ground in STOOD_ON) >= wanted


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_theme_keeps_what_its_own_file_promises(path: Path) -> None:
    said, colours = tomllib.loads(path.read_text(encoding="utf-8"))["contrast"], read_palette(path).colours
    voices = {**{name: (name,) for name in ("text", "soft", "faint")}, "state": STATES}
    for name, members in voices.items():
        assert min(contrast(colours[one], colours[on]) for one in members for on in STOOD_ON) >= said[name], name
    chips = [contrast(colours[one], colours[f"{state}_ground"]) for state in STATES for one in ("text", state)]
    assert min(chips) >= said["chip"]
    assert set(said) == {*voices, "chip"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_states_differ_from_each_other_and_from_what_is_said(path: Path) -> None:
    colours = read_palette(path).colours
    assert len({colours[name] for name in VOICES}) == len(VOICES)
    assert colours["select"] not in {colours[name] for name in STOOD_ON if name != "select"}


@pytest.mark.parametrize("name", sorted(BUILTIN_THEMES))
def test_every_theme_of_textuals_gives_every_role(name: str) -> None:
    palette = palette_from(BUILTIN_THEMES[name])
    assert set(palette.colours) == set(ROLES)
    assert set(css_variables(palette)) == {f"x-{role.replace('_', '-')}" for role in ROLES}
    if not palette.ansi:
        assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in palette.colours.values())
    assert name in textual_names()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_ours_stand_in_textual_under_their_names(path: Path) -> None:
    palette = read_palette(path)
    theme = textual_theme(palette)
    assert (theme.name, theme.dark, theme.background) == (palette.name, palette.dark, palette.colours["ground"])


def test_what_is_painted_before_any_theme_is_read_has_every_role() -> None:
    assert set(FALLBACK.colours) == set(ROLES)


# -- files with errors -------------------------------------------------------------------------------------------------------


def without(table: str, role: str = "") -> dict[str, Any]:
    said = {name: dict(value) if isinstance(value, dict) else value for name, value in WHOLE.items()}
    if role:
        del said[table][role]
    else:
        del said[table]
    return said


def with_role(table: str, role: str, value: Any) -> dict[str, Any]:
    said = without("contrast")
    said[table][role] = value
    return said


@pytest.mark.parametrize(
    ("table", "role"), [*(("colors", role) for role in (*GROUNDS, *VOICES)), *(("chips", role) for role in CHIPS)]
)
@pytest.mark.parametrize("value", ["red", "#fff", "#12345g", "", 7, None, ["#ffffff"], "#ffffff\n", "rgb(1,2,3)"])
def test_a_role_that_is_missing_or_no_colour_is_named(table: str, role: str, value: Any) -> None:
    for said in (with_role(table, role, value), without(table, role)):
        with pytest.raises(ThemeError, match=re.escape(f"mine.toml: [{table}] {role} is a colour")):
            palette_of("mine.toml", said)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": 1}, "`name`"), ({"name": "My Theme"}, "`name`"), ({"name": ""}, "`name`"), ({"name": "x" * 60}, "`name`"),
        ({"name": "a\n"}, "`name`"), ({"dark": "yes"}, "`dark`"), ({"dark": None}, "`dark`"), ({"colors": 1}, "[colors]"),
        ({"colors": None}, "[colors]"), ({"chips": []}, "[chips]"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_theme_is_named(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ThemeError, match=re.escape(words)):
        palette_of("mine.toml", {**WHOLE, **change})


@pytest.mark.parametrize(
    "content",
    [b"", b"name = ", b"\xff\xfe", b"\x00", b"a = " + b"[" * 5000, b"#" * 10_000_000, 'name = "é"'.encode("latin-1")],
    ids=["empty", "cut off", "utf-16", "nul", "deep", "10 MB", "latin-1"],
)
def test_a_file_that_is_no_theme_costs_one_sentence_and_the_others_stay(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken.toml").write_bytes(content)
    (tmp_path / "mine.toml").write_text(
        FILES[0].read_text(encoding="utf-8").replace(FILES[0].stem, "mine"), encoding="utf-8"
    )
    (tmp_path / "notes.txt").write_text("no theme", encoding="utf-8")
    found, wrong = palettes([own_folder(), tmp_path])
    assert set(found) == {*OURS, "mine"}
    assert len(wrong) == 1
    assert wrong[0].startswith("broken.toml: ")
    assert len(wrong[0]) < 200


def test_a_folder_named_like_a_theme_and_a_link_to_nowhere_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "gone.toml").symlink_to(tmp_path / "nowhere")
    found, wrong = own_palettes(tmp_path)
    assert found == []
    assert [words.partition(":")[0] for words in wrong] == ["folder.toml", "gone.toml"]


def test_a_folder_that_is_not_there_holds_no_theme(tmp_path: Path) -> None:
    assert own_palettes(tmp_path / "nowhere") == ([], [])


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=2)
)


@given(
    st.dictionaries(st.sampled_from([*WHOLE, "more"]), odd | st.dictionaries(st.sampled_from(ROLES), odd, max_size=3))
)
def test_whatever_a_file_says_it_is_a_palette_or_a_named_fault(said: dict[str, Any]) -> None:
    with pytest.raises(ThemeError, match=r"^mine\.toml: "):
        palette_of("mine.toml", said)
