"""The settings file: taste only. What is wrong in it is one sentence and left out; remembering a theme leaves the rest alone."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_tui.actions import ACTIONS
from loopx_tui.settings import GLYPHS, MOST_BYTES, NAME, Settings, read_settings, remember_theme


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "h").mkdir()
    return tmp_path / "h" / NAME


def read(file: Path, content: str | bytes = "") -> Settings:
    """What is read from a home whose file has this content (empty: as it stands)."""
    if content:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_settings({"LOOPX_HOME": str(file.parent)})


def test_without_a_file_everything_is_as_it_comes(file: Path) -> None:
    assert read(file) == Settings()


@pytest.mark.parametrize("glyphs", GLYPHS)
def test_what_a_person_likes_is_taken(file: Path, glyphs: str) -> None:
    found = read(file, f'theme = "nord"\nglyphs = "{glyphs}"\n[keys]\n"goal add" = "n"\nhelp = ["h", "f1"]\n')
    assert found == Settings("nord", glyphs, {"goal add": ("n",), "help": ("h", "f1")})


BROKEN = {
    "cut off": b"theme = ", "utf-16": b"\xff\xfet\x00h\x00", "latin-1": b'theme = "caf\xe9"\n', "nul": b"\x00", "no name": b"= 1",
    "brackets": b"[" * 2000, "deep": b"a = " + b"[" * 900, "10 MB": b"#" * 10_000_000,
}  # fmt: skip


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_file_that_cannot_be_read_is_one_sentence_and_nothing_of_it_is_taken(file: Path, content: bytes) -> None:
    found = read(file, content)
    assert (found.theme, found.glyphs, found.keys) == ("", "", {})
    assert len(found.faults) == 1
    assert found.faults[0].startswith(f"{NAME}: ")
    assert len(found.faults[0]) < 200


def test_a_file_just_small_enough_is_read(file: Path) -> None:
    start = 'theme = "nord"\n#'
    assert read(file, start + "x" * (MOST_BYTES - len(start))).theme == "nord"


def test_a_folder_of_that_name_is_one_sentence(file: Path) -> None:
    file.mkdir()
    assert len(read(file).faults) == 1


@pytest.mark.parametrize(
    ("content", "faults", "kept"),
    [
        ('theme = 7\nglyphs = "ascii"\n', 1, Settings("", "ascii")),
        ('theme = "nord"\nglyphs = ["ascii"]\n', 1, Settings("nord")),
        ('glyphs = "stars"\ncolour = 1\nledger = "/x"\n', 3, Settings()),
        ('keys = ["help"]\ntheme = "nord"\n', 1, Settings("nord")),
        ('[keys]\nfly = "f"\nhelp = "h"\n', 1, Settings("", "", {"help": ("h",)})),
        (
            '[keys]\nhelp = 7\nzoom = []\nredraw = [""]\nquit = ["Q", 1]\nwhy = "v"\n',
            4,
            Settings("", "", {"why": ("v",)}),
        ),
        ('[keys]\n"goal add" = {key = "n"}\n', 1, Settings()),
    ],
)
def test_what_is_wrong_is_said_each_and_the_rest_is_taken(
    file: Path, content: str, faults: int, kept: Settings
) -> None:
    found = read(file, content)
    assert (found.theme, found.glyphs, found.keys) == (kept.theme, kept.glyphs, kept.keys)
    assert len(found.faults) == faults


def test_two_actions_cannot_have_one_key_where_both_work(file: Path) -> None:
    found = read(file, '[keys]\nhelp = "h"\nzoom = ["Z", "h"]\n"decision yes" = "h"\n"follow" = "h"\n')
    assert found.keys == {"help": ("h",), "follow": ("h",)}
    assert found.faults == (
        f"{NAME}: 'zoom' and 'help' have the same key",
        f"{NAME}: 'decision yes' and 'help' have the same key",
    )


def test_one_key_may_do_different_things_in_different_panes(file: Path) -> None:
    found = read(file, '[keys]\n"todo add" = "f4"\n"decision text" = "f4"\n')
    assert (len(found.keys), found.faults) == (2, ())


def test_every_action_can_be_given_a_key(file: Path) -> None:
    rows = "".join(f'"{name}" = "ctrl+f{number}"\n' for number, name in enumerate(ACTIONS))
    found = read(file, "[keys]\n" + rows)
    assert (set(found.keys), found.faults) == (set(ACTIONS), ())


plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(plain)
def test_whatever_the_file_holds_settings_are_read(content: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = read(Path(folder) / NAME, content)
    assert all(fault.startswith(f"{NAME}: ") for fault in found.faults)


# -- remembering ---------------------------------------------------------------------------------------------------------


def remembered(file: Path, before: str) -> str:
    if before:
        file.write_text(before, encoding="utf-8")
    remember_theme({"LOOPX_HOME": str(file.parent)}, "nord")
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'theme = "nord"\n'),
        ('theme = "x"\n', 'theme = "nord"\n'),
        ('# mine\ntheme   = "x" # old\nglyphs = "ascii"\n', '# mine\ntheme = "nord"\nglyphs = "ascii"\n'),
        ('glyphs = "ascii"\n', 'theme = "nord"\nglyphs = "ascii"\n'),
        ('[keys]\ntheme = "F4"\n', 'theme = "nord"\n[keys]\ntheme = "F4"\n'),
        ('theme = "x"\n\n[keys]\ntheme = "F4"\n', 'theme = "nord"\n\n[keys]\ntheme = "F4"\n'),
        ('# theme = "x"\n', 'theme = "nord"\n# theme = "x"\n'),
    ],
    ids=["no file", "the same line", "with comments", "no theme yet", "a key of that name", "both", "a comment"],
)
def test_a_theme_is_remembered_and_everything_else_stays(file: Path, before: str, after: str) -> None:
    assert remembered(file, before) == after
    assert tomllib.loads(after)["theme"] == "nord"
    assert read(file).theme == "nord"


def test_the_file_is_its_owners_alone_and_no_half_of_it_is_left(file: Path) -> None:
    remembered(file, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == [NAME]


def test_a_file_in_another_encoding_is_not_written_over(file: Path) -> None:
    content = 'theme = "café"\n'.encode("latin-1")
    file.write_bytes(content)
    with pytest.raises(OSError, match="UTF-8") as refused:
        remember_theme({"LOOPX_HOME": str(file.parent)}, "nord")
    assert refused.value.strerror
    assert file.read_bytes() == content
