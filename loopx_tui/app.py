"""Workspace: the application. It wires panes, feed, threads, theme and keys together; what is done is in `deeds.py`.

The state is the ledger's, never the screen's: after a change the feed has everything on the screen read again. No command is
sent without a key, a click or a chosen palette entry.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from textual import events, on, work
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.widgets import Input

from loopx_engine import Desk
from loopx_tui.actions import ACTIONS
from loopx_tui.deeds import Deeds
from loopx_tui.keys import KEYS, Key
from loopx_tui.links.reader import Changed, Reader
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

TICK_S = 1.0
LEAST = (60, 16)
SAID_S = 8.0
MOST_FAULTS = 5


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
        self.reader = Reader(self)
        self.pending: frozenset[str] = frozenset()
        self.deeds: Deeds = Deeds(self)
        self.pressed_at = 0.0
        self.engine_started: int | None = None
        self._said: tuple[Line, float] | None = None
        self.goals_pane = GoalsPane(self)
        self.panes: dict[str, Pane] = {pane.scope: pane for pane in (NeedsPane(self), self.goals_pane)}
        self.pane: Pane = self.panes["needs"]
        self._before = "needs"
        self._greeted = False
        self.crash = ""
        self.begin_style(theme)

    def compose(self) -> ComposeResult:
        yield Lines(self.painter, id="head")
        yield Lines(self.painter, id="strip", margin=1)
        with Container(id="body"):
            yield Lines(self.painter, id="side")
            with Container(id="panes"):
                yield from self.panes.values()
        yield Input(id="filter", placeholder="words, field:value, !not", compact=True)
        yield Lines(self.painter, id="foot")
        yield Lines(self.painter, id="small", ground="ground")

    def on_mount(self) -> None:
        on_signals(self.leave)
        self.set_keymap(self._own_keys())
        self.show_pane("needs")
        self.open_ledger(self._start_engine)
        if self.faults:
            self.notify("\n".join(self.faults[:MOST_FAULTS]), title="not taken up", severity="warning", markup=False)
        if self.clock is None:
            self.set_interval(TICK_S, self._tick)

    # -- the ledger -------------------------------------------------------------------------------------------------------

    @property
    def desk(self) -> Desk | None:
        """The ledger that is open."""
        return self.reader.desk

    @property
    def jobs(self) -> Work:
        """Where calls to the engine run."""
        return self.reader.jobs

    @property
    def standing(self) -> Standing:
        """What the head says."""
        return self.reader.standing

    @property
    def idle(self) -> asyncio.Event:
        """Set while nothing more is to be read."""
        return self.reader.idle

    def want(self, *, whole: bool = True) -> None:
        """Has what is on the screen read again."""
        self.reader.want(whole=whole)

    @work(exclusive=True, group="ledger")
    async def open_ledger(self, start_engine: bool) -> None:
        """Opens it and reads for as long as the workspace lives."""
        await self.reader.run(start_engine=start_engine)

    @work(exclusive=True, group="reopen")
    async def reopen(self) -> None:
        """Another file stands where the ledger was: opens that one and says so."""
        await self.reader.reopen()
        self.deeds.forget()
        self.say("the ledger was replaced by another file; this is what it holds", "bad")
        self.open_ledger(False)

    @on(Changed)
    def _changed(self) -> None:
        self.reader.changed()

    def greet(self, status: dict[str, Any]) -> None:
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

    def show_pane(self, name: str) -> None:
        """Shows a pane and gives its list the focus."""
        if name != self.pane.scope:
            self._before = self.pane.scope
        self.pane = self.panes[name]
        for pane in self.panes.values():
            pane.set_class(pane is self.pane, "-active")
        self.pane.list.focus()
        self.query_one("#filter", Input).display = False
        self.want()
        self.frame_changed()

    def show_goal(self, name: str) -> None:
        """The goals pane, on this goal."""
        self.goals_pane.wanted = name
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
        self.reader.tick()
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
            self._take_back(event.key)
        await super().on_event(event)

    def _take_back(self, key: str) -> None:
        """Any key but the one of yes takes the first of two back, whatever else it does."""
        if self.deeds.armed[0] and not any(key in self.keys_of(row) for row in KEYS if row.action == "decision yes"):
            self.deeds.disarm()
            self.hush()

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
        self.reader.close()

    @property
    def home(self) -> Path | None:
        """The folder of the ledger that is open."""
        return self.desk.home if self.desk else None
