"""The themes: each is shown as the cursor comes to it, esc brings the old one back, enter keeps it in settings.toml."""

from __future__ import annotations

import stat

import pytest
from tui.pilot import Day, House, Stage, house, play

__all__ = ["house"]


def grounds(stage: Stage) -> set[str]:
    return {
        segment.style.bgcolor.name for strip in stage.strips() for segment in strip if segment.style and segment.style.bgcolor
    }  # fmt: skip


def test_a_theme_is_shown_as_the_cursor_comes_to_it_and_escape_restores(house: House) -> None:
    Day(house, "low")

    async def scene(stage: Stage) -> None:
        before, painted = stage.app.theme, grounds(stage)
        await stage.press("T")
        await stage.until(lambda: stage.on_top == "ThemePicker")
        await stage.press("j")
        await stage.until(lambda: stage.app.theme != before)
        seen = [before, stage.app.theme]
        for _ in range(6):
            await stage.press("j")
            await stage.until(lambda: stage.app.theme not in seen)
            seen.append(stage.app.theme)
        await stage.press("escape")
        assert stage.app.theme == before
        await stage.settled()
        assert grounds(stage) == painted
        assert not house.settings.exists()

    play(house, scene)


def test_ours_are_offered_first_and_textuals_after_them(house: House) -> None:
    Day(house, "low")

    async def scene(stage: Stage) -> None:
        await stage.press("T")
        await stage.sees("loopx-light")
        rows = [stage.row(name) for name in ("loopx-dark", "loopx-light", "atom-one-dark")]
        assert sorted(rows) == rows
        assert "ours" in stage.lines()[rows[0]]

    play(house, scene, size=(120, 48))


def test_enter_remembers_the_theme_and_leaves_the_rest_of_the_file(house: House) -> None:
    Day(house, "low")
    house.settings.write_text('# mine\ntheme = "loopx-dark"\n[keys]\n"help" = "h"\n', encoding="utf-8")

    async def scene(stage: Stage) -> None:
        await stage.press("T")
        await stage.until(lambda: stage.on_top == "ThemePicker")
        while stage.app.theme != "loopx-light":
            await stage.press("j")
        await stage.press("enter")
        assert stage.on_top == "Screen"
        assert stage.app.theme == "loopx-light"
        assert stage.written() == []

    play(house, scene)
    assert house.settings.read_text(encoding="utf-8") == '# mine\ntheme = "loopx-light"\n[keys]\n"help" = "h"\n'

    async def again(stage: Stage) -> None:
        assert stage.app.theme == "loopx-light"

    play(house, again)


def test_the_first_theme_kept_makes_the_file_for_its_owner_alone(house: House) -> None:
    Day(house, "low")

    async def scene(stage: Stage) -> None:
        await stage.press("T")
        await stage.until(lambda: stage.on_top == "ThemePicker")
        await stage.press("j", "enter")
        kept = stage.app.theme
        assert house.settings.read_text(encoding="utf-8") == f'theme = "{kept}"\n'
        assert stat.S_IMODE(house.settings.stat().st_mode) == 0o600

    play(house, scene)


def test_a_theme_that_cannot_be_kept_is_said_and_used_for_now(house: House) -> None:
    Day(house, "low")

    async def scene(stage: Stage) -> None:
        house.settings.mkdir()
        await stage.press("T")
        await stage.until(lambda: stage.on_top == "ThemePicker")
        await stage.press("j", "enter")
        await stage.sees("kept for this time only")
        assert stage.app.theme != "loopx-dark"

    play(house, scene)


@pytest.mark.parametrize("theme", ["loopx-dark", "loopx-light", "nord", "ansi-dark"])
def test_every_pane_can_be_painted_in_a_theme(house: House, theme: str) -> None:
    Day(house)

    async def scene(stage: Stage) -> None:
        for key in ("1", "2", "?", "escape"):
            await stage.press(key)
            await stage.settled()
            assert {len(line) for line in stage.lines()} == {120}

    play(house, scene, theme=theme)


def test_the_theme_asked_for_at_the_start_wins_over_the_one_kept(house: House) -> None:
    Day(house, "low")
    house.settings.write_text('theme = "loopx-light"\n', encoding="utf-8")

    async def scene(stage: Stage) -> None:
        assert stage.app.theme == "nord"

    play(house, scene, theme="nord")
