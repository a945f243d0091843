"""One screen as an app shows it: the scene is built, the app runs in it without a terminal, keys are pressed, and it is exported.

Nothing of the machine comes in: the person's home is the scene's folder, the clock stands still, the zone is UTC.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from screenshots.cells import Picture, read
from screenshots.manifest import Shot
from screenshots.scenes import Scene, build

WITHIN_S = 20.0
LOOK_S = 0.05
STILL = 3
"""So many looks in a row must be equal: then the screen is what it will stay."""
STRANGERS = ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES")
Maker = Callable[[Scene, str], Any]
"""Makes the app for a scene and the name of a theme."""


def workspace(scene: Scene, theme: str) -> Any:
    """The app that every picture is of."""
    from loopx_tui.app import Workspace

    return Workspace(scene.environ, clock=scene.clock, here=str(scene.root), theme=theme, start_engine=False)


def take(shot: Shot, folder: Path, maker: Maker = workspace) -> Picture:
    """The picture of a shot, its scene built in `folder`. A text it waits for that never comes is simply not on it."""
    scene = build(shot.scene, folder)
    with scene.engine_runs() if shot.engine else nullcontext(), surroundings(scene):
        return asyncio.run(_shown(maker(scene, shot.theme), shot))


async def _shown(app: Any, shot: Shot) -> Picture:
    app.animation_level = "none"
    async with app.run_test(size=shot.size) as pilot:
        await _still(app, pilot)
        for key in shot.keys:
            kind, colon, text = key.partition(":")
            if colon and kind == "see":
                await _still(app, pilot, (text,))
            elif colon and kind == "type":
                await pilot.press(*(_key(character) for character in text))
            else:
                await pilot.press(key)
                await _still(app, pilot)
        return await _still(app, pilot, shot.texts)


async def _still(app: Any, pilot: Any, texts: tuple[str, ...] = ()) -> Picture:
    """What is on the screen once it no longer changes and shows the texts, or after `WITHIN_S`."""
    until = time.monotonic() + WITHIN_S
    last, same = "", 0
    while True:
        await pilot.pause()
        _steady_cursors(app)
        svg = app.export_screenshot(title="loopx")
        same, last = (same + 1 if svg == last else 1), svg
        over = time.monotonic() > until or not app.is_running  # an app that ended says why when its run is left
        if same >= STILL or over:
            picture = read(svg)
            if over or all(picture.shows(text) for text in texts):
                return picture
            same = 0
        await asyncio.sleep(LOOK_S)


def _steady_cursors(app: Any) -> None:
    """No cursor blinks on a picture."""
    for field in app.screen.query("Input, TextArea"):
        field.cursor_blink = False


def _key(character: str) -> str:
    return "space" if character == " " else character


@contextmanager
def surroundings(scene: Scene) -> Iterator[None]:
    """This process as if a person stood in the scene's project; as it was, afterwards."""
    kept, stood = dict(os.environ), Path.cwd()
    for name in [*os.environ]:
        if name in STRANGERS or name.startswith(("LOOPX_", "TEXTUAL_", "XDG_")):
            del os.environ[name]
    os.environ.update({**scene.environ, "TZ": "UTC", "TERM": "xterm-256color", "LANG": "C.UTF-8"})
    _read_zone()
    os.chdir(scene.root)
    try:
        yield
    finally:
        os.chdir(stood)
        os.environ.clear()
        os.environ.update(kept)
        _read_zone()


def _read_zone() -> None:
    if hasattr(time, "tzset"):
        time.tzset()
