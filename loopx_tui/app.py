"""Workspace: the application. It wires panes, feed, threads, theme and keys together; what is done is in `deeds.py`.

The state is the ledger's, never the screen's: after a change the feed has everything on the screen read again. No command is
sent without a key, a click or a chosen palette entry.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from textual import events, work
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.widgets import Input

from loopx_engine import Desk, LoopxError
from loopx_tui.actions import ACTIONS
from loopx_tui.deeds import Deeds
from loopx_tui.keys import KEYS, Key
from loopx_tui.links.feed import Feed
from loopx_tui.links.work import Work
from loopx_tui.panes.base import Pane, bindings_of
from loopx_tui.panes.goals import GoalsPane
from loopx_tui.panes.needs import NeedsPane
from loopx_tui.state.frame import PANES, Standing, foot_line, head_line, side_lines, strip_line
from loopx_tui.state.lines import BLANK, Line, Span, line
from loopx_tui.state.when import MINUTE
from loopx_tui.styling import Styling
from loopx_tui.terminal.leaving import keep_crash, on_signals
from loopx_tui.widgets.lines import Lines

GAP_S = 0.05
TICK_S = 1.0
ENGINE_EVERY_S = 2.0
LEAST = (60, 16)
SAID_S = 8.0
CLOSES_WITHIN_S = 0.25


def palette_actions() -> Any:
    """The palette's actions, loaded when it is first opened."""
    from loopx_tui.palette import Actions

    return Actions


def palette_goals() -> Any:
    """The palette's goals, loaded when it is first opened."""
    from loopx_tui.palette import Goals

    return Goals


class Workspace(Styling, App[int]):
    """The full-screen workspace on the ledger an environment names. `clock` stands still in pictures and tests."""

    CSS_PATH = "styles/workspace.tcss"
    TITLE = "loopx"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar = bindings_of("everywhere")
    COMMANDS = {palette_actions, palette_goals}  # noqa: RUF012
    COMMAND_PALETTE_BINDING = "f12"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (140, "-wide")]  # noqa: RUF012
    AUTO_FOCUS = ""

    class Changed(Message):
        """The ledger changed, or cannot be looked at: read again. Carries nothing, so the last of many is enough."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, Workspace.Changed)

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        clock: Any = None,
        here: str = "",
        theme: str = "",
        start_engine: bool = True,
    ) -> None:
        self.environ = dict(environ)
        super().__init__()
        self.here = here
        self.clock = clock
        self._start_engine = start_engine
        self.desk: Desk | None = None
        self.feed: Feed | None = None
        self.jobs = Work()
        self.standing = Standing()
        self.pending: frozenset[str] = frozenset()
        self.deeds: Deeds = Deeds(self)
        self.pressed_at = 0.0
        self.engine_started: int | None = None
        self._want = asyncio.Event()
        self._whole = True
        self._said: tuple[Line, float] | None = None
        self._before = "needs"
        self._greeted = False
        self.crash = ""
        self.idle = asyncio.Event()
        self.begin_style(theme)

    def compose(self) -> ComposeResult:
        yield Lines(self.painter, id="head")
        yield Lines(self.painter, id="strip", margin=1)
        with Container(id="body"):
            yield Lines(self.painter, id="side")
            with Container(id="panes"):
                yield NeedsPane(self)
                yield GoalsPane(self)
        yield Input(id="filter", placeholder="words, field:value, !not", compact=True)
        yield Lines(self.painter, id="foot")
        yield Lines(self.painter, id="small", ground="ground")

    def on_mount(self) -> None:
        on_signals(self.leave)
        self.set_keymap(self._own_keys())
        self.show_pane("needs")
        self.open_desk()
        for fault in self.faults:
            self.notify(fault, severity="warning", markup=False)
        if self.clock is None:
            self.set_interval(TICK_S, self._tick)

    # -- opening and reading ----------------------------------------------------------------------------------------------

    @work(exclusive=True, group="desk")
    async def open_desk(self) -> None:
        """Opens the ledger, listens to it, and reads for as long as the workspace lives."""
        while self.desk is None:
            try:
                self.desk = await self.jobs.read(self._opened)
            except (LoopxError, OSError) as error:
                self.standing = Standing(fault=_code(error))
                self.say_error(error)
                await asyncio.sleep(ENGINE_EVERY_S)
        self.feed = Feed(self.desk, self._told)
        self.feed.start()
        self.want()
        if self._start_engine:
            self.deeds.start_engine(unasked=True)
        await self._read_on()

    def _opened(self) -> Desk:
        return Desk(self.environ, clock=self.clock, here=self.here)

    def want(self, *, whole: bool = True) -> None:
        """Has what is on the screen read again; `whole` with the list, else only what hangs on the cursor."""
        self._whole = self._whole or whole
        self.idle.clear()
        self._want.set()

    async def _read_on(self) -> None:
        while True:
            if not self._want.is_set():
                self.idle.set()
            await self._want.wait()
            self._want.clear()
            whole, self._whole = self._whole, False
            began = time.monotonic()
            try:
                await self._read_once(whole)
            except LoopxError as error:
                self.standing = Standing(self.standing.status, self.standing.engine, 0, _code(error))
                self.say_error(error)
            self.frame_changed()
            if whole:
                await asyncio.sleep(max(0.0, GAP_S - (time.monotonic() - began)))

    async def _read_once(self, whole: bool) -> None:
        pane = self.pane
        request = {**pane.request(), "whole": whole}
        desk = self.desk
        assert desk is not None

        def read() -> tuple[dict[str, Any] | None, bool | None, dict[str, Any]]:
            status = desk.read("status", here=self.here) if whole else None
            return status, desk.engine_runs() if whole else None, pane.read(desk, request)

        status, engine, data = await self.jobs.read(read)
        if status is not None:
            self.standing = Standing(status, engine)
            self._greet(status)
        if whole:
            self.deeds.settled()
        pane.take(data)
        self.deeds.look_closer(pane)

    def _told(self) -> None:
        """The feed's thread heard of a change."""
        self.post_message(self.Changed())

    def on_workspace_changed(self, event: Changed) -> None:
        if self.feed is not None and self.feed.replaced:
            self.reopen()
            return
        self.want()

    @work(exclusive=True, group="reopen")
    async def reopen(self) -> None:
        """Another file stands where the ledger was: opens that one and says so."""
        feed, desk = self.feed, self.desk
        if feed is None or desk is None:
            return
        self.feed, self.desk = None, None
        await self.jobs.read(feed.stop)
        self.say("the ledger was replaced by another file; this is what it holds", "bad")
        self.deeds.forget()
        await self.jobs.read(desk.close)
        self._start_engine = False
        self.open_desk()

    def _greet(self, status: dict[str, Any]) -> None:
        """With no goal at all: the first screen, once."""
        if self._greeted or self.is_modal:
            return
        self._greeted = True
        if not sum(status["counts"].values()) and not status["needs_you_count"]:
            self.deeds.start(self._first())

    async def _first(self) -> None:
        from loopx_tui.screens.first import First

        made = await self.push_screen_wait(First(self))
        if made is not None:
            self.show_goal(made["goal"])
            self.say(f"{made['goal']} is a draft: a adds todos, p accepts the plan and starts it")

    @property
    def is_modal(self) -> bool:
        """Whether something lies over the panes."""
        return len(self.screen_stack) > 1

    # -- panes ------------------------------------------------------------------------------------------------------------

    @property
    def pane(self) -> Pane:
        """The pane that is shown."""
        return self.query_one("Pane.-active", Pane)

    def show_pane(self, name: str) -> None:
        """Shows a pane and gives its list the focus."""
        for pane in self.query(Pane):
            if pane.has_class("-active") and pane.scope != name:
                self._before = pane.scope
            pane.set_class(pane.scope == name, "-active")
        self.pane.list.focus()
        self.query_one("#filter", Input).display = False
        self.want()
        self.frame_changed()

    def show_goal(self, name: str) -> None:
        """The goals pane, on this goal."""
        self.query_one(GoalsPane).wanted = name
        self.show_pane("goals")

    def keys_of(self, key: Key) -> tuple[str, ...]:
        """The keys that do this, as the settings have them."""
        return self.settings.keys.get(key.action, key.keys)

    def _own_keys(self) -> dict[str, str]:
        """Keys of one's own, by the ids of the bindings they replace: the first takes them, the others take none."""
        found: dict[str, str] = {}
        for key in KEYS:
            own = self.settings.keys.get(key.action)
            for number, name in enumerate(key.keys if own else ()):
                found[f"{key.scope}.{key.action}.{name}"] = ",".join(own or ()) if number == 0 else ""
        return found

    def last_pane(self) -> None:
        """The pane that was shown before."""
        self.show_pane(self._before)

    def now(self) -> int:
        """UTC milliseconds, as the engine counts them."""
        return self.clock.now() if self.clock is not None else round(time.time() * 1000)

    # -- the frame --------------------------------------------------------------------------------------------------------

    def frame_changed(self) -> None:
        """Paints head, side, strip and foot from what is known."""
        if not self.is_running or self.has_class("-closing"):
            return
        head, foot = self.query_one("#head", Lines), self.query_one("#foot", Lines)
        active = self.pane.scope
        standing = self.standing
        head.show([head_line(standing, head.inner, self.now())])
        self.query_one("#side", Lines).show(side_lines(standing, active, 20, self.now()))
        self.query_one("#strip", Lines).show([strip_line(standing, active)])
        said = self._said[0] if self._said else None
        if said is not None and said.left:
            foot.show([said])
        else:
            narrow = self.size.width < 100
            foot.show([foot_line(active, self.deeds.not_now(), said, foot.inner, narrow=narrow)])
        self.pane.refresh_rule()

    def say(self, text: str, voice: str = "soft", *, beside: bool = False) -> None:
        """One line at the foot for a while: instead of the keys, or `beside` them at the right."""
        spans = (Span(text, voice),)
        self._said = (Line((), spans) if beside else Line(spans), time.monotonic())
        self.frame_changed()

    def say_error(self, error: Exception) -> None:
        """What went wrong and the next step."""
        following = getattr(error, "next", "")
        message = getattr(error, "message", "") or str(error)
        self.say(f"{message}" + (f"  · next: {following}" if following else ""), "bad")

    @property
    def said_text(self) -> str:
        """What stands at the foot instead of the keys."""
        return "".join(span.text for span in self._said[0].left) if self._said else ""

    def hush(self) -> None:
        """The foot shows the keys again."""
        if self._said is not None and self._said[0].left:
            self._said = None
            self.frame_changed()

    def _tick(self) -> None:
        feed = self.feed
        if feed is not None:
            old = self.standing
            self.standing = Standing(old.status, old.engine, feed.silent_ms, feed.fault)
        if self._said is not None and self._said[0].left and time.monotonic() - self._said[1] > SAID_S:
            self._said = None
        self.deeds.tick()
        running = self.standing.status["running"] if self.standing.status else []
        for turn in running:
            turn["for_ms"] += round(TICK_S * 1000)
        self.frame_changed()
        if self.now() % MINUTE < TICK_S * 1000 or running:
            self.pane.rebuild()

    # -- keys -------------------------------------------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self.pressed_at = event.time
        await super().on_event(event)

    def action_act(self, name: str) -> None:
        self.act(name)

    def act(self, name: str) -> None:
        """Carries an action out, however it was asked for: key, palette, click."""
        self.hush()
        self.deeds.act(ACTIONS[name])

    def on_lines_pressed(self, event: Lines.Pressed) -> None:
        if event.lines.id == "side" and 1 <= event.number <= len(PANES):
            self.show_pane(PANES[event.number - 1][1])
        elif event.lines.id == "strip":
            before = 0
            for number, name, title in PANES:
                before += len(f" {number} {title} 00 ")
                if event.cell < before:
                    self.show_pane(name)
                    return

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter":
            self.pane.set_filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            self.pane.list.focus()
            event.input.display = bool(event.value)

    def on_resize(self, event: events.Resize) -> None:
        tiny = event.size.width < LEAST[0] or event.size.height < LEAST[1]
        self.screen.set_class(tiny, "-tiny")
        said = line(Span(f"This terminal has {event.size.width}x{event.size.height} cells", bold=True))
        least = line(Span("The workspace needs 60x16.", "soft"))
        self.query_one("#small", Lines).show([BLANK, said, least, BLANK, line(Span("q leaves", "faint"))])
        self.call_after_refresh(self.frame_changed)

    def _fatal_error(self) -> None:
        """A fault of ours: the terminal is left whole, what happened goes to the log, without the values it had."""
        import sys
        import traceback

        error = sys.exc_info()[1] or self._exception
        words = "".join(traceback.format_exception(error)) if error else ""
        self.crash = f"a fault of the workspace: {type(error).__name__}; {keep_crash(self.environ, words)}"
        self._close_messages_no_wait()

    # -- leaving ----------------------------------------------------------------------------------------------------------

    def leave(self) -> None:
        """Ends the workspace; the engine goes on."""
        self.exit(0)

    async def on_unmount(self) -> None:
        self.add_class("-closing")
        if self.feed is not None:
            self.feed.stop()
        self.jobs.close()
        if self.desk is not None:
            closing = threading.Thread(target=self.desk.close, daemon=True)
            closing.start()
            closing.join(CLOSES_WITHIN_S)

    @property
    def home(self) -> Path | None:
        """The folder of the ledger that is open."""
        return self.desk.home if self.desk else None


def _code(error: Exception) -> str:
    return str(getattr(error, "code", "")).replace("_", " ") or "the ledger cannot be read"
