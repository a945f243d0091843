"""Deeds: how an action is carried out. Every change is a command with an id and the basis of what was shown.

The screen never runs ahead: a row that was acted on is marked as on its way until the feed brings the ledger's own word.
"""

from __future__ import annotations

import time
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from loopx_engine import Answer, LoopxError
from loopx_tui import answering, forming, looking
from loopx_tui.actions import ACTIONS, Action, why_not_for
from loopx_tui.panes.base import Pane
from loopx_tui.panes.goals import GoalsPane
from loopx_tui.panes.needs import NeedsPane
from loopx_tui.state.lines import Line, Span

if TYPE_CHECKING:
    from loopx_tui.app import Workspace

ARMED_S = 5.0
LIVE_EVERY_S = 0.5
DO = {**answering.DO, **forming.DO}


class Deeds:
    """One for the workspace. `act` is the only way in, for keys, palette and mouse alike."""

    def __init__(self, app: Workspace) -> None:
        self.app: Workspace = app
        self.undoable: tuple[str, str] = ("", "")
        self.armed: tuple[str, str, float] = ("", "", 0.0)
        self._arrived: set[str] = set()
        self._under_way: set[tuple[str, str]] = set()
        self._live_at = 0.0

    def act(self, action: Action) -> None:
        """Looks at once; everything else runs beside the screen, one after the other."""
        if action.id != "decision yes":
            self.disarm()
        if not action.verbs:
            looking.LOOKS[action.id](self.app)
            return
        if self.app.desk is None:
            self.app.say("the ledger is not open yet", "bad")
            return
        subject = self.app.pane.subject()
        why_not = why_not_for(action, subject)
        if why_not:
            self.app.say(why_not)
            return
        once = (action.id, str(subject[1].get("id", "")) if subject else "")
        if once not in self._under_way:
            self._under_way.add(once)
            self.start(self._once(once, DO[action.id](self, subject)))

    async def _once(self, once: tuple[str, str], deed: Coroutine[Any, Any, None]) -> None:
        """A key pressed twice is one deed."""
        try:
            await deed
        finally:
            self._under_way.discard(once)

    def start(self, deed: Coroutine[Any, Any, Any]) -> None:
        """Runs a deed beside the screen."""
        self.app.run_worker(deed, group="deed", exit_on_error=True)

    # -- commands ---------------------------------------------------------------------------------------------------------

    async def command(
        self, verb: str, arguments: Mapping[str, Any], *, basis: str = "", about: str = "", said: str = ""
    ) -> Answer | None:
        """Runs one command, asking for the key where it must be signed. None where it was refused: the foot says why."""
        from loopx_tui.links.command import new_command

        identifier = new_command()
        self._begin(about)
        answer = await self._until_signed(verb, arguments, identifier, basis)
        if answer is None:
            self._end(about)
            return None
        self._arrived.add(about)
        self._receipt(verb, answer, said)
        self.app.want()
        return answer

    async def _until_signed(
        self, verb: str, arguments: Mapping[str, Any], identifier: str, basis: str
    ) -> Answer | None:
        desk = self.app.desk
        if desk is None:
            return None
        while True:
            try:
                return await self.app.jobs.change(lambda: desk.run(verb, arguments, command_id=identifier, basis=basis))
            except LoopxError as error:
                if error.code == "locked" and await self.unlock():
                    continue
                if error.code == "no_key" and await self.make_key():
                    continue
                if error.code not in ("locked", "no_key"):
                    self.app.say_error(error)
                    self.app.want()
                return None

    async def preview(self, verb: str, arguments: Mapping[str, Any]) -> Any:
        """What a command would change; the error where it is refused."""
        desk = self.app.desk
        if desk is None:
            return LoopxError("the ledger is not open")
        try:
            return await self.app.jobs.change(lambda: desk.preview(verb, arguments))
        except LoopxError as error:
            return error

    def _begin(self, about: str) -> None:
        if about:
            self.app.pending = self.app.pending | {about}
            self.app.pane.rebuild()

    def _end(self, about: str) -> None:
        self.app.pending = self.app.pending - {about}
        self.app.pane.rebuild()

    def settled(self) -> None:
        """The ledger was read after these arrived: their rows show its word."""
        if self._arrived:
            self.app.pending = self.app.pending - self._arrived
            self._arrived = set()

    def _receipt(self, verb: str, answer: Answer, said: str) -> None:
        receipt = answer.receipts[0]
        what = said or verb
        undo = receipt.undo and verb != "undo"
        if undo:
            self.undoable = (receipt.id, what)
        spans = [Span("z", "accent", bold=True), Span(" undo  ", "soft")] if undo else []
        self.app._said = (Line((), (*spans, Span(f"{what}  ", "soft"), Span(receipt.id, "faint"))), time.monotonic())
        self.app.frame_changed()

    def forget(self) -> None:
        """Another ledger: nothing here is about it."""
        self.undoable = ("", "")
        self.armed = ("", "", 0.0)
        self.app.pending = frozenset()

    # -- the key ----------------------------------------------------------------------------------------------------------

    async def unlock(self) -> bool:
        """Asks for the passphrase until it opens the key or the person leaves."""
        from loopx_tui.screens.ask import Ask

        desk, wrong = self.app.desk, ""
        while desk is not None:
            words = wrong or "The opened key is kept in memory for 15 minutes, the passphrase is not."
            ask = Ask(self.app, "Sign with the owner key", "passphrase", words, secret=True)
            typed = await self.app.push_screen_wait(ask)
            if typed is None:
                self.app.say("nothing was signed")
                return False
            try:
                await self.app.jobs.change(desk.unlock, typed)
            except LoopxError as error:
                wrong = error.message
                continue
            return True
        return False

    async def make_key(self) -> bool:
        """Offers to make the owner's key: the first signed command needs one."""
        from loopx_tui.screens.ask import Ask

        desk = self.app.desk
        words = "This is the first thing you sign. Your key is made now; a passphrase seals it (empty: none)."
        while desk is not None:
            first = await self.app.push_screen_wait(
                Ask(self.app, "Make the owner key", "passphrase", words, secret=True)
            )
            if first is None:
                self.app.say("nothing was signed")
                return False
            again: str | None = ""
            if first:
                ask = Ask(self.app, "Make the owner key", "once more", "The same passphrase again.", secret=True)
                again = await self.app.push_screen_wait(ask)
            if again is None:
                return False
            if first != again:
                words = "The two were not the same. Once more, from the start."
                continue
            try:
                await self.app.jobs.change(desk.make_key, first)
            except LoopxError as error:
                self.app.say_error(error)
                return False
            return True
        return False

    # -- a second key -----------------------------------------------------------------------------------------------------

    def arm(self, name: str, basis: str) -> None:
        """A medium answer waits for its second key, for five seconds."""
        self.armed = (name, basis, time.monotonic())

    def is_armed(self, name: str, basis: str) -> bool:
        """Whether the key before was the first of two for exactly this."""
        return self.armed[:2] == (name, basis) and time.monotonic() - self.armed[2] < ARMED_S

    def disarm(self) -> None:
        """Another key takes the first one back."""
        self.armed = ("", "", 0.0)

    # -- what the screen asks for by itself -----------------------------------------------------------------------------

    def look_closer(self, pane: Pane) -> None:
        """Reads what hangs on the cursor and takes longer: the difference of a decision, the output of a turn."""
        if isinstance(pane, NeedsPane):
            wanted = pane.missing_difference()
            if wanted is not None:
                self.app.run_worker(self._difference(pane, *wanted), group="difference", exclusive=True)
        elif isinstance(pane, GoalsPane):
            self._live_at = 0.0
            self.tick()

    async def _difference(self, pane: NeedsPane, name: str, basis: str) -> None:
        desk = self.app.desk
        if desk is not None:
            pane.take_difference(name, basis, await self.app.jobs.scan(desk.difference, name))

    def tick(self) -> None:
        """Lets a first key of two run out, and reads on in the transcript of the live turn that is on the screen."""
        if self.armed[0] and time.monotonic() - self.armed[2] >= ARMED_S:
            self.disarm()
            self.app.hush()
        pane = self.app.pane
        if not isinstance(pane, GoalsPane) or time.monotonic() - self._live_at < LIVE_EVERY_S:
            return
        wanted = pane.live_from()
        if wanted is not None:
            self._live_at = time.monotonic()
            self.app.run_worker(self._live(pane, *wanted), group="live", exclusive=True)

    async def _live(self, pane: GoalsPane, path: str, position: int) -> None:
        desk = self.app.desk
        if desk is not None:
            lines, following = await self.app.jobs.scan(desk.transcript, path, position)
            pane.take_live(path, lines, following)

    def start_engine(self, *, unasked: bool = False) -> None:
        """Starts the engine in the background where none runs."""
        self.start(self._start_engine(unasked))

    async def _start_engine(self, unasked: bool) -> None:
        desk = self.app.desk
        if desk is None or await self.app.jobs.read(desk.engine_runs):
            if not unasked:
                self.app.say("an engine runs already")
            return
        try:
            pid = await self.app.jobs.change(desk.start_engine)
        except (LoopxError, OSError) as error:
            self.app.say_error(error)
            return
        self.app.engine_started = pid
        self.app.say(f"no engine was running: one was started in the background (pid {pid}); it goes on when you leave")
        self.app.want()

    def not_now(self) -> frozenset[str]:
        """The actions that have nothing to act on where the cursor stands."""
        subject = self.app.pane.subject()
        return frozenset(name for name, action in ACTIONS.items() if why_not_for(action, subject))
