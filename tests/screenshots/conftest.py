"""What the tests of the pictures share: a morning that is built once, and a small app whose every cell is known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from support import require
from textual.app import App, ComposeResult
from textual.widgets import Input, Static

from loopx_engine.desk.opening import open_engine
from loopx_engine.engine import Engine
from screenshots.cells import Picture, read
from screenshots.scenes import Scene, build

GROUND, TEXT, ACCENT = "#101318", "#d5dae1", "#f0b65a"


class Board(App[None]):
    """A text on a ground, an accented word at 0,2, and a field; `b` shows a further word after a moment."""

    CSS = f"Screen {{ background: {GROUND}; color: {TEXT}; }} Input {{ width: 20; }}"
    AUTO_FOCUS = ""
    BINDINGS = [("b", "later", "")]  # noqa: RUF012

    def __init__(self, text: str = "hello") -> None:
        super().__init__()
        self.text = text

    def compose(self) -> ComposeResult:
        yield Static(self.text, markup=False, id="text")
        yield Static("", id="gap")
        yield Static(Text("amber", style=ACCENT), id="accent")
        yield Static("", id="late", markup=False)
        yield Input(compact=True)

    def action_later(self) -> None:
        self.set_timer(0.4, lambda: self.query_one("#late", Static).update("it came"))


def exported(text: str, size: tuple[int, int] = (40, 6), title: str = "loopx") -> str:
    """What Textual exports of a board."""

    async def shown() -> str:
        app: Any = Board(text)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            return str(app.export_screenshot(title=title))

    return asyncio.run(shown())


@pytest.fixture(scope="session")
def picture() -> Callable[..., Picture]:
    """`picture(text, size)`: the cells of a board with this text."""

    def made(text: str, size: tuple[int, int] = (40, 6)) -> Picture:
        return read(exported(text, size))

    return made


@pytest.fixture(scope="session")
def export() -> Callable[..., str]:
    return exported


@pytest.fixture(scope="session")
def board() -> type[Board]:
    return Board


@pytest.fixture(scope="session")
def morning(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """The scene `needs`, built once; tests only look at it."""
    require("git")
    return build("needs", tmp_path_factory.mktemp("morning") / "ana")


@pytest.fixture
def engine(morning: Scene) -> Iterator[Engine]:
    """An engine on the morning."""
    with opened(morning) as made:
        yield made


class opened:  # noqa: N801
    """An engine on a scene while the block runs."""

    def __init__(self, scene: Scene) -> None:
        self.engine = open_engine(scene.environ, clock=scene.clock)

    def __enter__(self) -> Engine:
        return self.engine

    def __exit__(self, *error: object) -> None:
        self.engine.ledger.close()


@pytest.fixture(scope="session")
def opening() -> type[opened]:
    return opened


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Scene]:
    """`made(name)`: a scene in a folder of its own."""
    require("git")

    def of(name: str) -> Scene:
        return build(name, Path(tmp_path_factory.mktemp("scene")) / "ana")

    return of
