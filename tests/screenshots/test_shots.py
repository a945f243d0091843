"""The command: what it draws, what it says of a picture that is not what the manifest says, and what it leaves alone."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import absent, require

from loopx_engine.errors import NotFound
from screenshots import screen
from screenshots.cells import Picture, read
from screenshots.draw import fonts, to_svg
from screenshots.manifest import Seen, Shot, shots
from screenshots.moving import places
from screenshots.scenes import Scene
from screenshots.screen import STRANGERS, _shown, surroundings, take
from screenshots.shots import faults, main

SHOT = Shot(name="board", scene="empty", size=(40, 8), theme="loopx-dark")
ENTRY = '[[pictures]]\nname = "board"\nscene = "empty"\nsize = "40x8"\ntheme = "loopx-dark"\n'


@pytest.fixture
def maker(board: Callable[[str], Any]) -> Callable[[Scene, str], Any]:
    return lambda _scene, _theme: board("hello <there>")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts that never come are not waited for long."""
    monkeypatch.setattr(screen, "WITHIN_S", 0.5)


@pytest.fixture
def shoot(tmp_path: Path, maker: Any) -> Callable[..., int]:
    """`shoot(words, manifest)`: the command with a board as its app and a folder of its own."""
    require("git")
    try:
        fonts(["fonts-dejavu-core"])
    except NotFound as error:
        absent(error.message)
    folder = tmp_path / "pictures"
    folder.mkdir()

    def run(*words: str, entry: str = ENTRY, maker: Any = maker) -> int:
        path = folder / "manifest.toml"
        path.write_text(entry, encoding="utf-8")
        return main([*words], folder=folder, manifest=path, maker=maker)

    return run


def shown(app: Any, shot: Shot) -> Picture:
    return asyncio.run(_shown(app, shot))


# -- drawing ------------------------------------------------------------------------------------------------------------


def test_a_picture_is_drawn_as_svg_and_as_png(
    shoot: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shoot() == 0
    folder = tmp_path / "pictures"
    assert sorted(path.name for path in folder.iterdir()) == [
        "board-40x8-dark.png",
        "board-40x8-dark.svg",
        "manifest.toml",
    ]
    assert "1 pictures, 0 faults" in capsys.readouterr().out


def test_drawing_twice_changes_no_byte(shoot: Callable[..., int], tmp_path: Path) -> None:
    shoot()
    files = {path: path.read_bytes() for path in (tmp_path / "pictures").iterdir()}
    assert shoot() == 0
    assert {path: path.read_bytes() for path in (tmp_path / "pictures").iterdir()} == files


@pytest.mark.usefixtures("impatient")
def test_a_picture_that_lacks_a_text_is_drawn_and_named(
    shoot: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    entry = ENTRY + 'texts = ["goodbye"]\n'
    assert shoot(entry=entry) == 1
    assert "board-40x8-dark: 'goodbye' is not on it" in capsys.readouterr().out


def test_only_the_named_picture_is_drawn(shoot: Callable[..., int], tmp_path: Path) -> None:
    entry = ENTRY + ENTRY.replace("board", "other")
    assert shoot("other", entry=entry) == 0
    assert {path.stem for path in (tmp_path / "pictures").glob("*.svg")} == {"other-40x8-dark"}


def test_a_name_that_is_none_ends_with_two(shoot: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert shoot("evening") == 2
    assert "evening" in capsys.readouterr().err


def test_a_manifest_with_a_fault_ends_with_two(shoot: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert shoot(entry=ENTRY + "colour = 3\n") == 2
    assert "colour" in capsys.readouterr().err


# -- checking -----------------------------------------------------------------------------------------------------------


def test_a_check_writes_nothing(shoot: Callable[..., int], tmp_path: Path) -> None:
    assert shoot("--check") == 1
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["manifest.toml"]


def test_a_check_passes_on_what_was_just_drawn(shoot: Callable[..., int]) -> None:
    entry = ENTRY + 'texts = ["hello <there>"]\ncells = [{ at = [0, 2], text = "amber", voice = "accent" }]\n'
    assert shoot(entry=entry) == 0
    assert shoot("--check", entry=entry) == 0


@pytest.mark.usefixtures("impatient")
def test_a_check_fails_on_a_wrong_text(shoot: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    shoot()
    capsys.readouterr()
    assert shoot("--check", entry=ENTRY + 'texts = ["goodbye"]\n') == 1
    said = capsys.readouterr().out
    assert "WRONG: board-40x8-dark: 'goodbye' is not on it" in said
    assert "1 pictures, " in said


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ('{ at = [0, 2], text = "amber", voice = "bad" }', "at 0,2 'amber' is accent, not bad"),
        ('{ at = [1, 2], text = "amber", voice = "accent" }', "at 1,2 stands 'mber ', not 'amber', which is at 0,2"),
        ('{ at = [30, 5], text = "x", voice = "text" }', "at 30,5 stands ' ', not 'x', which is nowhere"),
    ],
)
def test_a_check_fails_on_a_wrong_cell(
    cell: str, said: str, shoot: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    shoot()
    assert shoot("--check", entry=f"{ENTRY}cells = [{cell}]\n") == 1
    assert said in capsys.readouterr().out


def test_a_check_fails_on_files_that_are_not_what_is_shown(
    shoot: Callable[..., int], board: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shoot()
    assert shoot("--check", maker=lambda _scene, _theme: board("another")) == 1
    assert "dev.py shots board-40x8-dark" in capsys.readouterr().out


def test_a_picture_of_the_machine_is_not_compared_but_must_be_there(
    shoot: Callable[..., int], board: Any, tmp_path: Path
) -> None:
    entry = ENTRY + "machine = true\n"
    shoot(entry=entry)
    assert shoot("--check", entry=entry, maker=lambda _scene, _theme: board("another")) == 0
    (tmp_path / "pictures" / "board-40x8-dark.png").unlink()
    assert shoot("--check", entry=entry) == 1


def test_a_path_of_the_machine_on_it_is_a_fault(
    shoot: Callable[..., int], board: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shoot(maker=lambda scene, _theme: board(str(scene.folder)[-30:])) == 1
    assert "a path of this machine is on it" in capsys.readouterr().out


def test_every_fault_of_a_picture_is_named(export: Callable[..., str], tmp_path: Path) -> None:
    shot = Shot(**vars_of(SHOT), texts=("one", "two"), cells=(Seen((0, 0), "hello", "bad"),))
    assert len(faults(read(export("hello")), shot, tmp_path)) == 3


def vars_of(shot: Shot) -> dict[str, Any]:
    return {name: getattr(shot, name) for name in ("name", "scene", "size", "theme")}


# -- moving ------------------------------------------------------------------------------------------------------------


def test_cells_are_moved_to_where_their_text_stands_in_their_voice(shoot: Callable[..., int], tmp_path: Path) -> None:
    cells = '[\n    { at = [3, 5], text = "amber", voice = "accent" }, # a word\n]\n'
    other = ENTRY.replace("board", "other") + f"cells = {cells}"
    assert shoot("--move", "board", entry=f"{ENTRY}cells = {cells}\n{other}") == 0
    said = (tmp_path / "pictures" / "manifest.toml").read_text(encoding="utf-8")
    assert said == f"{ENTRY}cells = {cells}\n{other}".replace("[3, 5]", "[0, 2]", 1)


def test_a_cell_that_is_nowhere_in_its_voice_is_left_for_the_check(shoot: Callable[..., int], tmp_path: Path) -> None:
    entry = f'{ENTRY}cells = [{{ at = [3, 5], text = "amber", voice = "bad" }}]\n'
    assert shoot("--move", entry=entry) == 0
    assert (tmp_path / "pictures" / "manifest.toml").read_text(encoding="utf-8") == entry


def test_a_text_that_stands_twice_is_moved_to_the_nearest(export: Callable[..., str]) -> None:
    picture = read(export("xx\n\n\nxx", (40, 12)))
    shot = Shot(**vars_of(SHOT), cells=(Seen((2, 4), "xx", "text"), Seen((0, 0), "xx", "text")))
    assert places(picture, shot, {"text": "#d5dae1"}) == {shot.cells[0]: (0, 3)}


def test_checking_and_moving_at_once_is_refused(shoot: Callable[..., int]) -> None:
    with pytest.raises(SystemExit) as ended:
        shoot("--check", "--move")
    assert ended.value.code == 2


# -- running an app -----------------------------------------------------------------------------------------------------


def test_keys_are_pressed_and_texts_typed(board: Any) -> None:
    shot = Shot(**vars_of(SHOT), keys=("tab", "type:a b-c"), texts=("a b-c",))
    assert shown(board(), shot).shows("a b-c")


def test_what_comes_later_is_waited_for(board: Any) -> None:
    began = time.monotonic()
    shot = Shot(**vars_of(SHOT), keys=("b", "see:it came"))
    assert shown(board(), shot).shows("it came")
    assert time.monotonic() - began < 15


def test_texts_that_must_be_seen_are_waited_for(board: Any) -> None:
    assert shown(board(), Shot(**vars_of(SHOT), keys=("b",), texts=("it came",))).shows("it came")


def test_a_field_with_the_focus_is_the_same_picture_at_any_moment(board: Any) -> None:
    shot = Shot(**vars_of(SHOT), keys=("tab", "type:x"))
    assert to_svg(shown(board(), shot)) == to_svg(shown(board(), shot))


def test_a_shot_is_taken_in_its_scene(tmp_path: Path, board: Any) -> None:
    require("git")
    seen: list[Any] = []

    def maker(scene: Scene, theme: str) -> Any:
        seen.append((scene, theme, Path.cwd(), os.environ["HOME"], time.tzname[0], os.environ.get("LOOPX_HOME")))
        return board()

    stood = Path.cwd()
    take(SHOT, tmp_path / "ana", maker)
    [(scene, theme, here, home, zone, ledger)] = seen
    assert (theme, here, home) == ("loopx-dark", scene.root, str(scene.folder))
    assert (zone, ledger) == ("UTC", scene.environ["LOOPX_HOME"])
    assert Path.cwd() == stood


def test_the_surroundings_are_as_they_were_afterwards(made: Callable[[str], Scene]) -> None:
    scene = made("empty")
    strangers = (*STRANGERS, "TEXTUAL_THEME", "LOOPX_LEDGER")
    zone = time.tzname
    with pytest.MonkeyPatch.context() as patch:
        for name in strangers:
            patch.setenv(name, "1")
        patch.setenv("TZ", "Asia/Tokyo")
        before = dict(os.environ)
        with surroundings(scene):
            assert not {*strangers} & set(os.environ)
        assert dict(os.environ) == before
        with pytest.raises(ZeroDivisionError), surroundings(scene):
            _ = 1 // 0
        assert dict(os.environ) == before
        assert time.tzname[0] == "JST"
    time.tzset()
    assert time.tzname == zone


# -- the real one -------------------------------------------------------------------------------------------------------


@pytest.mark.real
@pytest.mark.parametrize("stem", [shot.stem for shot in shots()])
def test_the_workspace_shows_what_the_manifest_says(stem: str, capsys: pytest.CaptureFixture[str]) -> None:
    require("git")
    assert main(["--check", stem]) == 0, capsys.readouterr().out
