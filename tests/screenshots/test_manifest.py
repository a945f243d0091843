"""The manifest: what it may say, what it must not, and that each picture it names is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopx_engine.errors import UsageError
from screenshots.manifest import FOLDER, MANIFEST, Seen, Shot, named, shots

ENTRY = {"name": '"needs"', "scene": '"needs"', "size": '"160x48"', "theme": '"loopx-dark"'}
ASKED = (
    "needs-160x48-dark", "needs-160x48-light", "needs-80x24-dark", "needs-160x48-contrast-dark", "needs-160x48-contrast-light",
    "goals-160x48-dark", "goals-160x48-light", "goals-80x24-dark", "decision-120x40-dark", "decision-120x40-light",
    "armed-100x30-dark", "help-120x40-dark", "first-120x36-dark", "cjk-120x40-dark", "remember-120x40-dark",
    "small-50x12-dark", "form-120x40-dark", "live-160x48-dark",
)  # fmt: skip


def written(folder: Path, *entries: dict[str, str], more: str = "") -> Path:
    path = folder / "manifest.toml"
    tables = ["[[pictures]]\n" + "".join(f"{key} = {value}\n" for key, value in entry.items()) for entry in entries]
    path.write_text("\n".join(tables) + more, encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(UsageError) as refused:
        shots(path)
    assert refused.value.code == "bad_manifest"
    return refused.value.message


# -- ours ---------------------------------------------------------------------------------------------------------------


def test_ours_is_valid_and_has_every_picture_that_was_asked_for() -> None:
    stems = {shot.stem for shot in shots()}
    assert set(ASKED) <= stems


@pytest.mark.parametrize("stem", [shot.stem for shot in shots()])
def test_each_of_its_pictures_is_there_as_svg_and_as_png(stem: str) -> None:
    svg, png = FOLDER / f"{stem}.svg", FOLDER / f"{stem}.png"
    assert svg.read_text(encoding="utf-8").startswith("<svg ")
    assert png.read_bytes().startswith(b"\x89PNG")


def test_no_picture_lies_there_that_it_does_not_name() -> None:
    stems = {shot.stem for shot in shots()}
    assert {path.stem for ending in ("svg", "png") for path in FOLDER.glob(f"*.{ending}")} == stems


@pytest.mark.parametrize("shot", shots(), ids=lambda shot: shot.stem)
def test_each_says_what_must_be_seen(shot: Shot) -> None:
    assert shot.texts, f"{shot.stem} would pass with an empty screen"


def test_its_themes_are_ours() -> None:
    from loopx_tui.themes import own_folder, own_palettes

    palettes, wrong = own_palettes(own_folder())
    assert wrong == []
    assert {shot.theme for shot in shots()} <= {palette.name for palette in palettes}


# -- any ----------------------------------------------------------------------------------------------------------------


def test_an_entry_is_read_whole(tmp_path: Path) -> None:
    cells = '[{ at = [3, 1], text = "HIGH", voice = "bad" }]'
    more = {
        "keys": '["2", "see:Goals", "type:a b"]',
        "texts": '["Goals"]',
        "cells": cells,
        "engine": "false",
        "machine": "true",
    }
    [shot] = shots(written(tmp_path, {**ENTRY, **more}))
    assert shot == Shot(
        name="needs", scene="needs", size=(160, 48), theme="loopx-dark", keys=("2", "see:Goals", "type:a b"), texts=("Goals",),
        cells=(Seen((3, 1), "HIGH", "bad"),), engine=False, machine=True,
    )  # fmt: skip
    assert shot.stem == "needs-160x48-dark"
    assert shot.file("svg", tmp_path) == tmp_path / "needs-160x48-dark.svg"


def test_a_scene_may_say_how_many(tmp_path: Path) -> None:
    assert shots(written(tmp_path, {**ENTRY, "scene": '"many:500"'}))[0].scene == "many:500"


def test_the_same_name_may_come_in_other_sizes_and_themes(tmp_path: Path) -> None:
    path = written(tmp_path, ENTRY, {**ENTRY, "size": '"80x24"'}, {**ENTRY, "theme": '"loopx-light"'})
    assert [shot.stem for shot in shots(path)] == ["needs-160x48-dark", "needs-80x24-dark", "needs-160x48-light"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scene": '"evening"'}, "evening"),
        ({"scene": '""'}, "says no `scene`"),
        ({"size": '"160"'}, "size like"),
        ({"size": '"160 x 48"'}, "size like"),
        ({"size": "160"}, "says no `size`"),
        ({"theme": "1"}, "says no `theme`"),
        ({"name": '"Needs you"'}, "a-z"),
        ({"name": '"../needs"'}, "a-z"),
        ({"keys": '"y"'}, "`keys`"),
        ({"keys": "[1]"}, "`keys`"),
        ({"texts": '[""]'}, "`texts`"),
        ({"engine": '"yes"'}, "`engine`"),
        ({"colour": '"red"'}, "colour"),
        ({"cells": '[{ text = "HIGH", voice = "bad" }]'}, "at = [column, row]"),
        ({"cells": '[{ at = [1], text = "HIGH", voice = "bad" }]'}, "at = [column, row]"),
        ({"cells": '[{ at = [1.5, 2], text = "HIGH", voice = "bad" }]'}, "at = [column, row]"),
        ({"cells": '[{ at = [1, 2], text = "", voice = "bad" }]'}, "says no `text`"),
        ({"cells": '[{ at = [1, 2], text = "HIGH", voice = "red" }]'}, "voice 'red'"),
        ({"cells": '[{ at = [160, 2], text = "HIGH", voice = "bad" }]'}, "outside"),
        ({"cells": '[{ at = [0, -1], text = "HIGH", voice = "bad" }]'}, "outside"),
        ({"cells": '["HIGH"]'}, "at = [column, row]"),
    ],
)
def test_what_is_wrong_with_an_entry_is_said(change: dict[str, str], said: str, tmp_path: Path) -> None:
    assert said in refusal(written(tmp_path, {**ENTRY, **change}))


@pytest.mark.parametrize("missing", [*ENTRY])
def test_an_entry_lacks_nothing(missing: str, tmp_path: Path) -> None:
    assert missing in refusal(written(tmp_path, {key: value for key, value in ENTRY.items() if key != missing}))


def test_two_pictures_of_one_file_are_refused(tmp_path: Path) -> None:
    assert "twice" in refusal(written(tmp_path, ENTRY, ENTRY))


@pytest.mark.parametrize("text", ["", "pictures = 3\n", "pictures = [1]\n", "other = []\n", "pictures = [\n"])
def test_a_file_that_is_no_manifest_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    path.write_text(text, encoding="utf-8")
    assert refusal(path)


def test_pictures_are_chosen_by_name_or_by_file(tmp_path: Path) -> None:
    path = written(tmp_path, ENTRY, {**ENTRY, "size": '"80x24"'}, {**ENTRY, "name": '"goals"'})
    found = shots(path)
    assert named([], found) == found
    assert [shot.stem for shot in named(["needs"], found)] == ["needs-160x48-dark", "needs-80x24-dark"]
    assert [shot.stem for shot in named(["goals-160x48-dark", "needs-80x24-dark"], found)] == [
        "needs-80x24-dark",
        "goals-160x48-dark",
    ]


def test_a_name_that_is_none_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        named(["evening"], shots(written(tmp_path, ENTRY)))
    assert "evening" in refused.value.message
    assert "needs" in refused.value.next


def test_the_manifest_lies_beside_its_pictures() -> None:
    assert MANIFEST.parent == FOLDER
