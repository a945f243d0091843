"""Drawing: the same bytes from the same cells, every glyph in its cells, nothing of the machine, named fonts."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import absent

from loopx_engine.errors import NotFound
from screenshots.cells import Glyph, Ink, Picture, graphemes, read
from screenshots.draw import CELL, FONTS, ZOOM, fonts, needed, to_png, to_svg

Made = Callable[..., Picture]
SVG = "{http://www.w3.org/2000/svg}"
INK = Ink("#d5dae1")


def drawn(made: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(to_svg(made))


def texts(made: Picture) -> list[tuple[str, str, str]]:
    """(text, x, y) of every text that is drawn."""
    return [(item.text or "", item.attrib["x"], item.attrib["y"]) for item in drawn(made).iter(f"{SVG}text")]


def rects(made: Picture) -> list[dict[str, str]]:
    return [dict(item.attrib) for item in drawn(made).iter(f"{SVG}rect")]


def of(text: str, width: int = 20, ink: Ink = INK, ground: str = "#101318") -> Picture:
    """A picture of one row."""
    glyphs, column = {}, 0
    for part, cells in graphemes(text):
        if part.strip():
            glyphs[(column, 0)] = Glyph(part, cells, ink)
        column += cells
    return Picture(width, 1, glyphs, ((ground,) * width,))


def with_fonts(made: Picture) -> None:
    """Skips where this machine has not the fonts for a picture."""
    try:
        fonts(needed(made))
    except NotFound as error:
        absent(error.message)


# -- SVG ----------------------------------------------------------------------------------------------------------------


def test_the_same_screen_is_the_same_bytes(picture: Made) -> None:
    assert to_svg(picture("hello 目")) == to_svg(picture("hello 目"))


def test_the_title_and_the_ids_of_the_export_are_gone(export: Callable[..., str]) -> None:
    one, other = export("hello", title="one"), export("hello", title="another")
    assert one != other
    assert to_svg(read(one)) == to_svg(read(other))
    for strange in ("terminal-", "@font-face", "http://cdn", "https:", "Rich", "Fira", "textLength", "another"):
        assert strange not in to_svg(read(other))


def test_its_size_is_that_of_the_cells(picture: Made) -> None:
    assert drawn(picture("x", (80, 24))).attrib["viewBox"] == f"0 0 {80 * CELL[0]} {24 * CELL[1]}"


def test_every_character_of_a_run_has_its_place() -> None:
    [(text, places, _)] = texts(of("abc"))
    assert (text, places) == ("abc", f"0 {CELL[0]} {2 * CELL[0]}")


def test_what_follows_wide_characters_stands_behind_both_their_cells() -> None:
    found = {text: places for text, places, _ in texts(of("目标x"))}
    assert found["x"] == str(4 * CELL[0])
    assert found["目"] == str(CELL[0])
    assert found["标"] == str(3 * CELL[0])


def test_a_wide_character_stands_in_the_middle_of_its_cells() -> None:
    [item] = drawn(of("目")).iter(f"{SVG}text")
    assert item.attrib["text-anchor"] == "middle"


def test_a_grapheme_is_drawn_as_one() -> None:
    assert [text for text, _, _ in texts(of("👩‍🚀e\u0301"))] == ["👩‍🚀", "e\u0301"]


def test_emoji_ask_for_the_font_with_colours() -> None:
    said = to_svg(of("⚠️ ✓"))
    assert said.count('font-family="Noto Color Emoji"') == 1


def test_runs_of_different_inks_are_different_texts() -> None:
    made = of("ab")
    glyphs = {**made.glyphs, (1, 0): Glyph("b", 1, Ink("#f0b65a", bold=True))}
    found = list(drawn(Picture(20, 1, glyphs, made.grounds)).iter(f"{SVG}text"))
    assert [(item.text, item.attrib["fill"], item.attrib.get("font-weight")) for item in found] == [
        ("a", "#d5dae1", None),
        ("b", "#f0b65a", "bold"),
    ]


@pytest.mark.parametrize(
    ("ink", "attribute", "value"),
    [
        (Ink("#d5dae1", italic=True), "font-style", "italic"),
        (Ink("#d5dae1", underline=True), "text-decoration", "underline"),
        (Ink("#d5dae1", underline=True, strike=True), "text-decoration", "underline line-through"),
    ],
)
def test_styles_of_a_terminal_are_drawn(ink: Ink, attribute: str, value: str) -> None:
    [item] = drawn(of("a", ink=ink)).iter(f"{SVG}text")
    assert item.attrib[attribute] == value


def test_what_is_markup_is_escaped() -> None:
    assert [text for text, _, _ in texts(of("<a&b>"))] == ["<a&b>"]


def test_blanks_split_no_word_but_far_ends_are_runs_of_their_own() -> None:
    assert [text for text, _, _ in texts(of("a b        c"))] == ["ab", "c"]


def test_a_rule_is_one_rectangle() -> None:
    assert len(rects(of("──────────"))) == 2
    assert rects(of("──────────"))[1]["width"] == str(10 * CELL[0])


def test_lines_of_a_box_meet(picture: Made) -> None:
    made = picture("┌──┐\n│  │\n└──┘")
    lines = [item for item in rects(made) if item["fill"] == "#d5dae1"]
    assert len(lines) == 4
    heights = {float(item["height"]) for item in lines if float(item["width"]) == 1}
    assert heights == {float(2 * CELL[1] + 1)} or max(heights) >= 2 * CELL[1]


@pytest.mark.parametrize(
    ("block", "size"),
    [("█", (1, 1)), ("▌", (0.5, 1)), ("▐", (0.5, 1)), ("▄", (1, 0.5)), ("▁", (1, 0.125)), ("▎", (0.25, 1))],
)
def test_blocks_fill_their_share_of_the_cell(block: str, size: tuple[float, float]) -> None:
    [_, item] = rects(of(block))
    assert (float(item["width"]), float(item["height"])) == (size[0] * CELL[0], size[1] * CELL[1])
    assert texts(of(block)) == []


def test_shades_let_the_ground_through() -> None:
    assert [item.get("fill-opacity") for item in rects(of("░▒▓"))] == [None, "0.25", "0.5", "0.75"]


def test_the_diamond_needs_no_font() -> None:
    assert texts(of("⬥")) == []
    assert len(list(drawn(of("⬥")).iter(f"{SVG}polygon"))) == 1


def test_equal_grounds_beside_and_above_each_other_are_one_rectangle() -> None:
    grounds = (("#111111", "#222222", "#222222", "#111111"),) * 3
    assert [(item.get("x"), item.get("width"), item["height"]) for item in rects(Picture(4, 3, {}, grounds))[1:]] == [
        (str(CELL[0]), str(2 * CELL[0]), str(3 * CELL[1]))
    ]


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=5, max_size=5), min_size=1, max_size=5))
def test_grounds_cover_every_cell_with_its_colour_and_once(rows: list[list[str]]) -> None:
    grounds = tuple(tuple(f"#{name}{name}{name}{name}{name}{name}" for name in row) for row in rows)
    found = rects(Picture(5, len(rows), {}, grounds))
    painted = [[found[0]["fill"]] * 5 for _ in rows]
    touched = set()
    for item in found[1:]:
        x, y, width, height = (int(item[name]) for name in ("x", "y", "width", "height"))
        for row in range(y // CELL[1], (y + height) // CELL[1]):
            for column in range(x // CELL[0], (x + width) // CELL[0]):
                assert (column, row) not in touched
                touched.add((column, row))
                painted[row][column] = item["fill"]
    assert tuple(map(tuple, painted)) == grounds


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), max_size=30))
def test_any_text_makes_well_formed_pictures_with_all_of_it_inside(text: str) -> None:
    made = of(text, 80)
    for _, places, _ in texts(made):
        assert all(0 <= float(place) <= 80 * CELL[0] for place in places.split())


# -- PNG ----------------------------------------------------------------------------------------------------------------


def test_a_png_has_the_size_of_the_cells_and_is_the_same_twice(picture: Made) -> None:
    made = picture("hello", (40, 6))
    with_fonts(made)
    data = to_png(made)
    assert data.startswith(b"\x89PNG\r\n")
    assert struct.unpack(">II", data[16:24]) == (round(40 * CELL[0] * ZOOM), round(6 * CELL[1] * ZOOM))
    assert data == to_png(made)


def test_text_is_really_drawn(picture: Made) -> None:
    made = picture("hello")
    with_fonts(made)
    assert to_png(made) != to_png(picture(""))


def test_wide_characters_and_emoji_are_drawn_with_fonts_that_have_them(picture: Made) -> None:
    one, other = picture("目 ✅"), picture("標 🚀")
    try:
        fonts(needed(one))
    except NotFound:  # they are large, and no test of ours brings them: then their absence is said
        with pytest.raises(NotFound, match="Noto"):
            to_png(one)
    else:
        assert to_png(one) != to_png(other)


@pytest.mark.parametrize(
    ("text", "packages"),
    [
        ("hello ✓ ▸", ("fonts-dejavu-core",)),
        ("目", ("fonts-dejavu-core", "fonts-noto-cjk")),
        ("🚀", ("fonts-dejavu-core", "fonts-noto-color-emoji")),
        ("한 👩‍🚀", ("fonts-dejavu-core", "fonts-noto-cjk", "fonts-noto-color-emoji")),
    ],
)
def test_a_picture_needs_the_fonts_of_its_characters(text: str, packages: tuple[str, ...]) -> None:
    assert needed(of(text)) == packages


def test_fonts_that_are_missing_are_named_with_the_packages_that_bring_them(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as missing:
        fonts(FONTS, [str(tmp_path), str(tmp_path / "absent")])
    assert missing.value.code == "font_missing"
    assert missing.value.next.endswith("apt-get install fonts-dejavu-core fonts-noto-cjk fonts-noto-color-emoji")
    assert "DejaVuSansMono.ttf" in missing.value.message


def test_the_first_font_of_a_name_is_taken_in_the_order_of_the_folders(tmp_path: Path) -> None:
    for folder in ("one/deep", "two"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "NotoColorEmoji.ttf").touch()
    found = fonts(["fonts-noto-color-emoji"], [str(tmp_path / "two"), str(tmp_path / "one")])
    assert found == [tmp_path / "two" / "NotoColorEmoji.ttf"]
