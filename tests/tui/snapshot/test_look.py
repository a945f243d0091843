"""How the screens look: both panes, a decision, help and the empty state, in two sizes and two themes, with CJK and emoji.

Drawn over real ledgers (`screenshots/scenes.py`), whose instants, ids and commits are fixed. A changed screen is read in the
report (`--snapshot-report=build/snapshots.html`) before it is taken over with `--snapshot-update`.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from loopx_tui.app import Workspace
from screenshots.scenes import Scene, build

SIZES = [(80, 24), (160, 48)]
THEMES = ["loopx-dark", "loopx-light"]
SCREENS = {
    "needs": ("needs", ()),
    "goals": ("goals", ("2",)),
    "decision": ("needs", ("enter",)),
    "help": ("needs", ("question_mark",)),
    "cjk-needs": ("cjk", ()),
    "cjk-goals": ("cjk", ("2",)),
}  # fmt: skip
DEADLINE_S = 10.0
pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="one baseline: Python 3.11")


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Scene]:
    """Each scene built once; the screens only read it."""
    built: dict[str, Scene] = {}

    def scene(name: str) -> Scene:
        if name not in built:
            built[name] = build(name, tmp_path_factory.mktemp("scene") / "home")
        return built[name]

    return scene


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine comes onto a screen."""
    for name in (
        "NO_COLOR",
        "FORCE_COLOR",
        "COLORTERM",
        "TEXTUAL_THEME",
        "TEXTUAL_ANIMATIONS",
        "LC_ALL",
        "LC_CTYPE",
        "LANG",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setenv("TERM", "xterm-256color")


def compared(snap_compare: Any, scene: Scene, theme: str, size: tuple[int, int], keys: tuple[str, ...]) -> bool:
    with scene.engine_runs():
        app = Workspace(scene.environ, clock=scene.clock, here=str(scene.root), theme=theme, start_engine=False)

        async def pressed(pilot: Pilot[Any]) -> None:
            await still(pilot)
            for key in keys:
                await pilot.press(key)
                await still(pilot)

        return bool(snap_compare(app, terminal_size=size, run_before=pressed))


async def still(pilot: Pilot[Any]) -> None:
    """Until three looks at the screen are equal and nothing is to be read."""
    loop = asyncio.get_running_loop()
    until, before, equal = loop.time() + DEADLINE_S, "", 0
    while equal < 3 and loop.time() < until:
        await pilot.pause(0.05)
        now = "\n".join("".join(part.text for part in strip) for strip in pilot.app.screen._compositor.render_strips())
        equal = equal + 1 if now == before and pilot.app.idle.is_set() and "being read" not in now else 0  # type: ignore[attr-defined]
        before = now
    assert equal == 3, f"the screen never stood still:\n{before}"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("screen", SCREENS)
def test_screen_looks_as_it_did(
    screen: str, size: tuple[int, int], theme: str, scenes: Callable[[str], Scene], snap_compare: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    name, keys = SCREENS[screen]
    scene = scenes(name)
    monkeypatch.setenv("HOME", str(scene.folder))
    assert compared(snap_compare, scene, theme, size, keys)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("keys", [("escape",), ("escape", "2")], ids=["needs", "goals"])
def test_empty_panes_look_as_they_did(
    keys: tuple[str, ...], size: tuple[int, int], theme: str, scenes: Callable[[str], Scene], snap_compare: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    scene = scenes("empty")
    monkeypatch.setenv("HOME", str(scene.folder))
    monkeypatch.setattr("loopx_engine.desk.machine.RUNTIMES", ())
    monkeypatch.setattr(
        "loopx_engine.desk.machine._box", lambda: {"mark": "good", "name": "sandbox", "text": "bubblewrap", "hint": ""}
    )
    assert compared(snap_compare, scene, theme, size, keys)
