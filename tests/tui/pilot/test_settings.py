"""Settings: taste only. Keys of one's own work and stand in the help; what is wrong costs a sentence, never the screen."""

from __future__ import annotations

import pytest
from tui.pilot import Day, House, Stage, house, play

__all__ = ["house"]

THEME = """name = "mine"
dark = true
[colors]
ground = "#101010"
side = "#101010"
raised = "#202020"
select = "#303030"
rule = "#404040"
text = "#ffffff"
soft = "#d0d0d0"
faint = "#a0a0a0"
accent = "#ffcc00"
run = "#66aaff"
good = "#66cc66"
bad = "#ff6666"
[chips]
accent = "#332a00"
run = "#112233"
good = "#113311"
bad = "#331111"
"""


def write(house: House, text: str) -> None:
    house.settings.write_text(text, encoding="utf-8")


def test_a_key_of_ones_own_does_it_and_the_old_one_does_not(house: House) -> None:
    Day(house, "low")
    write(house, '[keys]\n"help" = "h"\n"zoom" = ["Z", "f5"]\n')

    async def scene(stage: Stage) -> None:
        await stage.press("?")
        assert stage.on_top == "Screen"
        await stage.press("f")
        assert stage.app.pane.classes & {"-list", "-detail"} == set()
        await stage.press("h")
        await stage.until(lambda: stage.on_top == "Read")
        await stage.press("escape", "Z")
        assert stage.app.pane.has_class("-list")
        await stage.press("f5")
        assert stage.app.pane.has_class("-detail")
        assert stage.toasts == []

    play(house, scene)


def test_the_help_and_the_foot_show_keys_of_ones_own(house: House) -> None:
    Day(house, "low")
    write(house, '[keys]\n"filter" = "F8"\n"help" = "h"\n"copy id" = ["b", "B"]\n')

    async def scene(stage: Stage) -> None:
        await stage.press("h")
        await stage.until(lambda: stage.on_top == "Read")
        await stage.press("G")
        await stage.settled()
        line = next(line for line in stage.lines() if "the id to the clipboard" in line)
        assert line.split("the id")[0].split()[-2:] == ["b", "B"]

    play(house, scene, size=(160, 48))


def test_a_key_of_a_pane_is_changed_too(house: House) -> None:
    day = Day(house, "low")
    write(house, '[keys]\n"decision yes" = "f9"\n')

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        await stage.press("y")
        await stage.settled()
        assert stage.written() == []
        await stage.press("f9")
        await stage.until(lambda: stage.verbs() == ["decision answer"])

    play(house, scene)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("theme = ", "settings.toml: "),
        ("colour = 1\n", "nobody knows 'colour'"),
        ("theme = 7\n", "theme is a word in quotes"),
        ('theme = "nowhere"\n', "there is no theme 'nowhere'"),
        ('glyphs = "stars"\n', "glyphs is one of unicode, narrow, ascii"),
        ("keys = 3\n", "[keys] is a table"),
        ('[keys]\n"fly" = "f"\n', "there is no action 'fly'"),
        ('[keys]\n"help" = []\n', "the keys of 'help'"),
        ("[" * 2000, "settings.toml: "),
    ],
)
def test_what_is_wrong_in_the_file_is_said_once_and_the_screen_comes_all_the_same(
    house: House, text: str, said: str
) -> None:
    Day(house, "low")
    write(house, text)

    async def scene(stage: Stage) -> None:
        assert len(stage.toasts) == 1
        assert said in stage.toasts[0]
        assert stage.app.theme == "loopx-dark"
        assert "Keep the old URL alive?" in stage.text()

    play(house, scene)


def test_a_file_that_cannot_be_read_is_said(house: House) -> None:
    Day(house, "low")
    house.settings.write_bytes(b"\xff\xfe\x00")

    async def scene(stage: Stage) -> None:
        assert len(stage.toasts) == 1

    play(house, scene)


def test_what_settings_say_is_text_and_never_markup(house: House) -> None:
    Day(house, "low")
    write(house, 'theme = "[bold]x[/bold][/]"\n')

    async def scene(stage: Stage) -> None:
        await stage.sees("there is no theme '[bold]x[/bold][/]'")

    play(house, scene)


def test_settings_cannot_name_a_ledger_or_allow_anything(house: House) -> None:
    day = Day(house, "high")
    write(house, 'ledger = "/elsewhere.db"\nautonomy = "unattended"\n[keys]\n"decision yes" = ["y", "n", "j"]\n')

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.high)
        assert len(stage.toasts) == 1
        assert stage.toasts[0].count("nobody knows") == 2
        await stage.press("n")
        await stage.settled()
        assert stage.on_top == "DecisionScreen"
        assert stage.written() == []

    play(house, scene)


def test_a_theme_of_ones_own_is_taken_up(house: House) -> None:
    Day(house, "low")
    folder = house.settings.parent / "themes"
    folder.mkdir()
    (folder / "mine.toml").write_text(THEME, encoding="utf-8")
    write(house, 'theme = "mine"\n')

    async def scene(stage: Stage) -> None:
        assert stage.app.theme == "mine"
        grounds = {str(segment.style.bgcolor.name) for strip in stage.strips() for segment in strip if segment.style}
        assert "#101010" in grounds
        assert stage.toasts == []

    play(house, scene)


@pytest.mark.parametrize(
    "text",
    [THEME.replace('"#101010"', '"red"', 1), "name = 1", THEME.split("[chips]")[0], "\x00", "a = " + "[" * 5000],
    ids=["a colour", "a name", "no chips", "a control", "deep"],
)
def test_a_theme_file_with_errors_costs_one_sentence_and_the_default_stays(house: House, text: str) -> None:
    Day(house, "low")
    folder = house.settings.parent / "themes"
    folder.mkdir()
    (folder / "mine.toml").write_text(text, encoding="utf-8")

    async def scene(stage: Stage) -> None:
        assert stage.app.theme == "loopx-dark"
        assert len(stage.toasts) == 1
        assert "mine.toml" in stage.toasts[0]
        assert "Keep the old URL alive?" in stage.text()

    play(house, scene)


def test_ascii_glyphs_leave_no_other_glyph_of_ours_on_the_screen(house: House) -> None:
    Day(house)
    write(house, 'glyphs = "ascii"\n')

    async def scene(stage: Stage) -> None:
        for keys in ((), ("2",), ("?",)):
            await stage.press(*keys)
            await stage.settled()
            assert {character for character in stage.text() if not character.isascii()} == set()

    play(house, scene)
