"""The reader: opens the ledger, listens to it, and has what is on the screen read again, merged, no faster than it paints."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

from textual.message import Message

from loopx_engine import Desk, LoopxError
from loopx_tui.links.feed import Feed
from loopx_tui.links.work import Work
from loopx_tui.state.frame import Standing

if TYPE_CHECKING:
    from loopx_tui.app import Workspace

GAP_S = 0.05
REOPEN_EVERY_S = 2.0
CLOSES_WITHIN_S = 0.25


class Changed(Message):
    """The ledger changed, or cannot be looked at. Carries nothing, so the last of many is enough."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Changed)


class Reader:
    """One for the workspace. `idle` is set while nothing more is to be read."""

    def __init__(self, app: Workspace) -> None:
        self.app = app
        self.jobs = Work()
        self.desk: Desk | None = None
        self.feed: Feed | None = None
        self.standing = Standing()
        self.idle = asyncio.Event()
        self._wanted = asyncio.Event()
        self._whole = True

    def want(self, *, whole: bool = True) -> None:
        """Has what is on the screen read again; `whole` with the list, else only what hangs on the cursor."""
        self._whole = self._whole or whole
        self.idle.clear()
        self._wanted.set()

    async def run(self, *, start_engine: bool) -> None:
        """Opens the ledger and reads for as long as the workspace lives."""
        while self.desk is None:
            try:
                self.desk = await self.jobs.read(self._opened)
            except (LoopxError, OSError) as error:
                self.standing = Standing(fault=fault_of(error))
                self.app.say_error(error)
                await asyncio.sleep(REOPEN_EVERY_S)
        self.feed = Feed(self.desk, self._told)
        self.feed.start()
        self.want()
        if start_engine:
            self.app.deeds.start_engine(unasked=True)
        while True:
            await self._next()

    def changed(self) -> None:
        """The feed says that something moved."""
        if self.feed is not None and self.feed.replaced:
            self.app.reopen()
        else:
            self.want()

    async def reopen(self) -> None:
        """Another file stands where the ledger was: lets go of the old one."""
        feed, desk = self.feed, self.desk
        self.feed, self.desk = None, None
        if feed is not None and desk is not None:
            await self.jobs.read(feed.stop)
            await self.jobs.quiet()
            await self.jobs.read(desk.close)

    def tick(self) -> None:
        """How long ago the ledger was last looked at, and what is wrong with it."""
        feed, old = self.feed, self.standing
        if feed is not None:
            self.standing = Standing(old.status, feed.engine, feed.silent_ms, feed.fault)

    def close(self) -> None:
        """Stops listening and reading; waits for no other process."""
        closing = threading.Thread(target=self._close, name="closing", daemon=True)
        closing.start()
        closing.join(CLOSES_WITHIN_S)

    def _close(self) -> None:
        """A connection is closed only once no thread can be using it."""
        if self.feed is not None and not self.feed.stop():
            return
        self.jobs.close()
        if self.desk is not None:
            self.desk.close()

    def _opened(self) -> Desk:
        return Desk(self.app.environ, clock=self.app.clock, here=self.app.here)

    def _told(self) -> None:
        """Called in the feed's thread."""
        self.app.post_message(Changed())

    async def _next(self) -> None:
        if not self._wanted.is_set():
            self.idle.set()
        await self._wanted.wait()
        self._wanted.clear()
        whole, self._whole = self._whole, False
        began = time.monotonic()
        try:
            await self._read(whole)
        except LoopxError as error:
            self.standing = Standing(self.standing.status, self.standing.engine, 0, fault_of(error))
            self.app.say_error(error)
        self.app.frame_changed()
        if whole:
            await asyncio.sleep(max(0.0, GAP_S - (time.monotonic() - began)))

    async def _read(self, whole: bool) -> None:
        pane, desk = self.app.pane, self.desk
        if desk is None:
            return
        request = {**pane.request(), "whole": whole}

        def read() -> tuple[dict[str, Any] | None, bool | None, dict[str, Any]]:
            status = desk.read("status", here=self.app.here) if whole else None
            return status, desk.engine_runs() if whole else None, pane.read(desk, request)

        status, engine, data = await self.jobs.read(read)
        if status is not None:
            self.standing = Standing(status, engine)
            self.app.greet(status)
        if whole:
            self.app.deeds.settled()
        pane.take(data)
        self.app.deeds.look_closer(pane)


def fault_of(error: Exception) -> str:
    """What the head says of a ledger that cannot be read."""
    return str(getattr(error, "code", "")).replace("_", " ") or "the ledger cannot be read"
