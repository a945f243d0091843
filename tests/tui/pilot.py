"""The workspace without a terminal: a real ledger in a file, the app on it, keys pressed, the screen as text.

`House` is the engine's test kit on a file, with the environment a workspace is started with. `Stage` is a running workspace:
what it shows, what it wrote since it was started, and waiting for conditions. Nothing of the product is replaced; only the
calls that run in its threads are counted, and can be made slow.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import pytest
from engine_kit import Kit, watched
from textual import events
from textual.pilot import Pilot
from textual.widgets import TextArea

from loopx_engine.clock import FakeClock
from loopx_engine.consent.keys import protect
from loopx_engine.model.identity import Identity
from loopx_engine.model.receipt import Receipt
from loopx_tui.app import Workspace
from loopx_tui.links.work import Work
from loopx_tui.screens.form import Form

T = TypeVar("T")
SIZE = (120, 36)
SIZES = ((60, 16), (80, 24), (100, 30), (160, 48), (200, 60), (40, 12))
WITHIN_S = 3.0
LOOK_S = 0.004
PASSPHRASE = "a long enough passphrase"
KEYS = {
    "/": "slash", ":": "colon", "?": "question_mark", "-": "minus", "[": "left_square_bracket", "]": "right_square_bracket",
    " ": "space", "\n": "enter",
}  # fmt: skip


class Still(FakeClock):
    """A clock that stands still; waiting by it is real, so that threads that wait do not run hot."""

    def wait(self, event: Event, timeout: float) -> bool:
        return event.wait(timeout)


class House(Kit):
    """A home with a ledger in a file, the owner's key entered, and the project `shop` as a real directory."""

    def __init__(self, folder: Path, *, key: str = "open") -> None:
        super().__init__(folder, str(folder / "home" / "ledger.db"))
        self.clock = Still(int(time.time() * 1000))
        self.engine.clock = self.clock
        self.engine.ledger.connection().execute("pragma synchronous = off")  # type: ignore[attr-defined]
        self.root = folder / "shop"
        self.root.mkdir()
        self.environ = {"LOOPX_HOME": str(folder / "home"), "LOOPX_KEYS": str(self.keys), "HOME": str(folder)}
        if key == "none":
            self.environ["LOOPX_KEYS"] = str(folder / "no-keys")
            self.engine.owner_key = lambda: None
            return
        self.sign("owner init", public_key=self.public)
        if key == "sealed":
            protect(self.keys, None, PASSPHRASE.encode())

    @property
    def settings(self) -> Path:
        """The person's own settings file."""
        return self.folder / "home" / "settings.toml"

    def project(self, root: str = "", identity: str = "") -> str:
        return super().project(root or str(self.root), identity)

    def ask(self, goal: str, question: str = "Keep the old URL alive?", **given: Any) -> str:
        """An open decision; its id."""
        return str(self.say("decision ask", goal=goal, question=question, **given)["decision"])

    def ask_push(self, goal: str, ref: str, question: str = "", **given: Any) -> str:
        """A decision about a push: high for a protected branch, else medium."""
        effect = {
            "action": "push",
            "remote": "origin",
            "ref": ref,
            "sha": "1" * 40,
            "remote_has": "",
            "protected": ["main"],
        }
        return self.ask(goal, question or f"Push to {ref}?", effect=effect, **given)

    def answer(self, decision: str, option: str = "yes", **given: Any) -> dict[str, Any]:
        """The owner's answer from somewhere else, such as another terminal."""
        return self.sign(
            "decision answer", decision=decision, option=option, basis=self.decision(decision).basis, **given
        )

    def decision(self, name: str) -> Any:
        from loopx_engine.model.decision import Decision

        return self.get(Decision, name)

    def live(self, agent: str, todo: str, said: str = "") -> tuple[Identity, Path]:
        """A turn that runs, with a transcript that can grow."""
        who = self.begin(agent, todo=todo)
        path = self.folder / "home" / "transcripts" / f"{who.turn}.log"
        path.parent.mkdir(exist_ok=True)
        path.write_text(said, encoding="utf-8")
        self.act("turn start", turn=who.turn, pid=0, started="", sandbox="none", transcript=str(path))
        return who, path

    def since(self, seq: int) -> list[Receipt]:
        """The receipts after this one."""
        return self.engine.ledger.receipts(after=seq)


class Day:
    """A day in the shop: an active goal with two criteria, three todos and the questions named in `asks`; a draft; one paused.

    `asks` names what is open: `low`, `medium`, `high`, `choice` (two options, low), in the order they were asked.
    """

    def __init__(self, house: House, asks: str = "low medium high choice") -> None:
        self.house = house
        self.agent = house.agent("codex-2", capability=["plan"])
        self.goal = house.goal(
            "checkout totals",
            criterion=[["totals are right", ["true"]], ["the shop reads well", []]],
            agent=["codex-2"],
        )
        titles = ("quantity in the total", "no cached lines", "release")
        self.todos = [house.todo(self.goal, title) for title in titles]
        self.docs = house.draft("docs site")
        self.queue = house.draft("queue migration")
        house.sign("goal resume", goal=self.queue)
        house.say("goal pause", goal=self.queue)
        self.low = self.medium = self.high = self.choice = ""
        for risk in asks.split():
            setattr(self, risk, self._ask(risk))

    def _ask(self, risk: str) -> str:
        if risk == "low":
            return self.house.ask(self.goal, "Keep the old URL alive?", why="old links", blocks=[self.todos[0]])
        if risk == "choice":
            return self.house.ask(self.goal, "Which name?", option=["carts", "baskets"])
        return self.house.ask_push(self.goal, "main" if risk == "high" else f"loopx/{self.goal}")


class Watched(Work):
    """The threads of the workspace, with what they were asked counted; `slow` holds each read up for so many seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.slow = 0.0
        self.reads = self.changes = self.running = 0

    async def read(self, call: Callable[..., T], *given: Any) -> T:
        self.reads += 1
        return await self._counted(super().read(self._held(call), *given))

    async def scan(self, call: Callable[..., T], *given: Any) -> T:
        return await self._counted(super().scan(self._held(call), *given))

    async def change(self, call: Callable[..., T], *given: Any) -> T:
        self.changes += 1
        return await self._counted(super().change(call, *given))

    async def _counted(self, call: Awaitable[T]) -> T:
        self.running += 1
        try:
            return await call
        finally:
            self.running -= 1

    def _held(self, call: Callable[..., T]) -> Callable[..., T]:
        def held(*given: Any) -> T:
            if self.slow:
                time.sleep(self.slow)
            return call(*given)

        return held


class Stage:
    """A running workspace. `house` is the ledger below it, `begun` the number of its last receipt when it was started."""

    def __init__(self, house: House, app: Workspace, pilot: Pilot[Any], jobs: Watched) -> None:
        self.house, self.app, self.pilot, self.jobs = house, app, pilot, jobs
        self.begun = house.seq()

    # -- what is there ----------------------------------------------------------------------------------------------------

    def lines(self) -> list[str]:
        """The screen, line by line, exactly as wide as it is painted."""
        return ["".join(segment.text for segment in strip) for strip in self.strips()]

    def strips(self) -> list[Any]:
        """The screen as it is painted."""
        return list(self.app.screen._compositor.render_strips())

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines())

    def line(self, text: str) -> str:
        """The first line that has this text."""
        return next((line for line in self.lines() if text in line), "")

    def row(self, text: str) -> int:
        """The number of the first line that has this text; -1 where none has."""
        return next((number for number, line in enumerate(self.lines()) if text in line), -1)

    @property
    def foot(self) -> str:
        """The last line: the keys, or what was said."""
        return self.lines()[-1].rstrip()

    @property
    def toasts(self) -> list[str]:
        """What was said in toasts."""
        return [toast.message for toast in self.app._notifications]

    @property
    def cursor(self) -> str:
        """The id under the cursor of the shown pane's list."""
        return self.app.pane.list.cursor

    @property
    def on_top(self) -> str:
        """The class of what lies on top; `Screen` where nothing lies over the panes."""
        return type(self.app.screen).__name__

    def written(self) -> list[Receipt]:
        """What was written since the workspace was started."""
        return self.house.since(self.begun)

    def verbs(self) -> list[str]:
        """The verbs of what was written."""
        return [receipt.verb for receipt in self.written()]

    def sent(self, number: int = -1) -> dict[str, Any]:
        """The arguments of a receipt that was written, by default of the last."""
        return dict((self.written()[number].payload or {})["arguments"])

    # -- waiting ----------------------------------------------------------------------------------------------------------

    async def until(self, true: Callable[[], Any], what: str = "") -> None:
        """Until a condition holds. Fails with the screen after `WITHIN_S`."""
        end = time.monotonic() + WITHIN_S
        while not true():
            if self.app._exception is not None:
                raise self.app._exception
            assert time.monotonic() < end, f"it never came: {what or true}\n{self.text()}"
            await asyncio.sleep(LOOK_S)

    async def sees(self, text: str) -> None:
        """Until the text is on the screen."""
        await self.until(lambda: text in self.text(), f"'{text}' on the screen")

    async def heard(self) -> None:
        """Until everything that was sent is dealt with and painted; what it set off in a thread may still be under way."""
        for _ in range(3):
            await self.pilot._wait_for_screen()
        await self.until(self._painted, "a painted screen")

    async def misses(self, text: str) -> None:
        """Until the text is gone from the screen."""
        await self.until(lambda: text not in self.text(), f"'{text}' gone from the screen")

    async def settled(self) -> None:
        """Until every change of the ledger was heard and read, and nothing is under way."""
        for _ in range(2):
            await self.until(self._quiet, "nothing under way")
            await self.pilot._wait_for_screen()

    def _quiet(self) -> bool:
        feed = self.app.reader.feed
        heard = feed is not None and feed.seq >= self.house.seq()
        return heard and self.app.idle.is_set() and not self.jobs.running and self._painted()

    def _painted(self) -> bool:
        """Whether the screen shows everything that was asked of it: a key that is pressed sooner is pressed blindly."""
        screen = self.app.screen
        waits = screen._callbacks or screen._dirty_widgets or screen._layout_required or screen._repaint_required
        return not waits

    async def shown_whole(self, name: str) -> None:
        """Until this decision is on the screen and may be answered."""
        from loopx_tui.panes.needs import NeedsPane

        def may() -> bool:
            pane = self.app.pane
            if not isinstance(pane, NeedsPane):
                return False
            answer = pane.shown()
            return answer is not None and answer["item"]["id"] == name and pane.may_act(
                name, answer["item"]["basis"], time.monotonic()
            )  # fmt: skip

        await self.until(may, f"{name} shown and still")

    async def go_to(self, name: str) -> None:
        """Moves the list's cursor by keys until it stands on this row."""
        for _ in range(200):
            await self.settled()
            if self.cursor == name:
                return
            listing, at = self.app.pane.list.listing, self.app.pane.list.index
            wanted = listing.index_of(name)
            assert wanted is not None, f"{name} is not in the list\n{self.text()}"
            await self.press("j" if wanted > at else "k")
        raise AssertionError(f"{name} was not reached\n{self.text()}")

    async def go_into(self, name: str) -> None:
        """Moves the cursor of the detail onto this row, and the focus with it."""
        detail = self.app.pane.detail
        if not detail.has_focus:
            await self.press("tab")
        for _ in range(200):
            await self.settled()
            if detail.cursor == name:
                return
            wanted = detail.listing.index_of(name)
            assert wanted is not None, f"{name} is not in the detail\n{self.text()}"
            await self.press("j" if wanted > detail.index else "k")
        raise AssertionError(f"{name} was not reached\n{self.text()}")

    # -- doing ------------------------------------------------------------------------------------------------------------

    async def press(self, *keys: str) -> None:
        """Presses keys, each once the screen has dealt with the one before and shows what came of it."""
        for key in keys:
            self.send(key)
            await self.heard()

    def send(self, key: str, at: float | None = None) -> None:
        """Puts a key into the queue, as pressed at an instant of the monotonic clock."""
        named = KEYS.get(key, key)
        event = events.Key(named, key if len(key) == 1 else None)
        event.set_sender(self.app)
        if at is not None:
            event.time = at
        driver = self.app._driver
        assert driver is not None
        driver.send_message(event)

    async def type(self, text: str) -> None:
        """Types a text into the field that has the focus."""
        for character in text:
            self.send(character)
        await self.heard()

    async def fill(self, **fields: str) -> None:
        """Puts texts into fields of the form that is shown."""
        for name, text in fields.items():
            field = self.app.screen.inputs[name]  # type: ignore[attr-defined]
            if isinstance(field, TextArea):
                field.text = text
            else:
                field.value = text
        await self.heard()

    async def form(self) -> Form:
        """The form, once it is shown."""
        await self.until(lambda: self.on_top == "Form", "a form")
        await self.heard()
        assert isinstance(self.app.screen, Form)
        return self.app.screen

    async def preview(self) -> None:
        """Has the form show what would change, and waits until it may be confirmed."""
        form = await self.form()
        await self.press("f2")
        await self.until(lambda: form.preview is not None or form.fault, "a preview")
        assert form.preview is not None, form.fault
        await self.heard()

    async def paste(self, text: str) -> None:
        """A bracketed paste."""
        event = events.Paste(text)
        event.set_sender(self.app)
        driver = self.app._driver
        assert driver is not None
        driver.send_message(event)
        await self.heard()

    async def resize(self, width: int, height: int) -> None:
        await self.pilot.resize_terminal(width, height)
        await self.settled()


@asynccontextmanager
async def staged(
    house: House, *, size: tuple[int, int] = SIZE, still: bool = True, settle: bool = True, **given: Any
) -> AsyncIterator[Stage]:
    """The workspace on a house. `still`: by the house's clock, without a tick; else by the machine's own."""
    given = {"here": str(house.root), "start_engine": False, **given}
    app = Workspace(house.environ, clock=house.clock if still else None, **given)
    app.animation_level = "none"
    jobs = app.reader.jobs = Watched()
    async with app.run_test(size=size, notifications=True) as pilot:
        stage = Stage(house, app, pilot, jobs)
        if settle:
            await stage.settled()
        yield stage
    for thread in threading.enumerate():
        if thread.name == "closing":
            thread.join(WITHIN_S)


def play(house: House, scene: Callable[[Stage], Awaitable[None]], **given: Any) -> None:
    """Runs a scene on the workspace of a house; how it is started is given as for `staged`."""

    async def run() -> None:
        async with staged(house, **given) as stage:
            await scene(stage)

    asyncio.run(run())


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A house whose receipts verify after the test, and whose fold is its state."""
    yield from watched(House(tmp_path / "house"))  # type: ignore[misc]


@pytest.fixture
def sealed_house(tmp_path: Path) -> Iterator[House]:
    """The same, with the owner's key sealed by `PASSPHRASE`."""
    yield from watched(House(tmp_path / "house", key="sealed"))  # type: ignore[misc]


@pytest.fixture
def keyless_house(tmp_path: Path) -> Iterator[House]:
    """A ledger whose owner has no key yet."""
    yield from watched(House(tmp_path / "house", key="none"))  # type: ignore[misc]
