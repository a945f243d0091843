"""A decision on its own screen, with everything its risk asks for: options, the difference, a reason, the goal's id typed.

A high one is sent only after its difference was opened, a reason written and the goal's id typed; nothing else here sends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding
from textual.containers import Container
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Label

from loopx_tui.keys import of_scope
from loopx_tui.screens.modal import Modal
from loopx_tui.state.decision import decision_lines
from loopx_tui.state.difference import Difference, difference
from loopx_tui.state.lines import BLANK, Span, line
from loopx_tui.state.listing import Listing, document
from loopx_tui.widgets.lines import Lines

if TYPE_CHECKING:
    from loopx_tui.app import Workspace

Sent = dict[str, Any] | str | None
OPEN_FIRST = "open the difference first: d"


class DecisionScreen(Modal[Sent]):
    """What was chosen: `{"option": ..., more}`, "no", "remember", or None where it is left undecided."""

    BINDINGS: ClassVar = [
        Binding("escape", "leave", show=False),
        *(Binding(name, f"does({key.action!r}, {name!r})", show=False) for key in of_scope("decision") for name in key.keys),
        Binding("enter", "enter", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("J,pagedown,ctrl+d", "scroll(8)", show=False),
        Binding("K,pageup,ctrl+u", "scroll(-8)", show=False),
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
    ]  # fmt: skip

    def __init__(self, app: Workspace, answer: dict[str, Any]) -> None:
        super().__init__(app)
        self.answer = answer
        self.item: dict[str, Any] = answer["item"]
        self.high = self.item["risk"] not in ("low", "medium")
        self.difference: Difference | None = None
        self.opened = False
        self.chosen = "" if self.item["options"] else "yes"
        self.missing = ""
        self.shown_at = float("inf")
        self.reason = Input(id="reason", compact=True)
        self.typed = Input(id="typed", compact=True)
        self.warning = Lines(app.painter, id="warning", ground="raised")
        self.set_class(self.high, "-high")
        self.add_class("-whole")

    # -- what it shows ----------------------------------------------------------------------------------------------------

    def listing(self, width: int) -> Listing:
        tight = self.app.size.height < 30
        return document(decision_lines(self.answer, width, self.workspace.now(), self.difference, tight=tight))

    def fields(self) -> Sequence[Widget]:
        if not self.high:
            return ()
        rows = (("reason", self.reason), (f"type {self.item['goal']}", self.typed))
        return (
            self.warning,
            *(Container(Label(label, markup=False), field, classes="field") for label, field in rows),
        )

    def keys(self) -> Sequence[tuple[str, str]]:
        leave = ("esc", "not now")
        if self.item["state"] != "open":
            return (("esc", "leave"),)
        if self.high:
            return (("d", "whole difference"), ("enter", "answer yes" if self.chosen else "answer"), ("n", "no"), leave)
        if self.item["options"]:
            again = (("y", f"again: {self.chosen}"),) if self.armed else ()
            return (("1-9", "that answer"), *again, ("n", "no"), ("d", "difference"), leave)
        return (
            ("y", "again: yes" if self.armed else "yes"),
            ("n", "no"),
            ("Y", "and remember"),
            ("d", "difference"),
            leave,
        )

    def said(self) -> tuple[Span, ...]:
        if self.missing:
            return (Span(self.missing, "bad"),)
        desk = self.workspace.desk
        key = desk.key() if desk is not None else None
        if key is None or not key.made:
            return (Span("signs with: a key made first", "faint"),)
        return (Span(f"signs with: {'passphrase' if key.sealed else 'key file'}", "good"),)

    def on_mount(self) -> None:
        super().on_mount()
        self.text.focus()
        if self.high:
            leaves = self.answer["leaves"] and not self.answer["undo"]["can"]
            words = "This leaves the machine and cannot be undone by LoopX." if leaves else "This is of high risk."
            self.warning.show([BLANK, line(Span(words, "bad", bold=True)), BLANK])
        self.run_worker(self._read_difference(), group="difference")
        self.call_after_refresh(self._shown)

    def _shown(self) -> None:
        self.shown_at = Message().time

    async def _read_difference(self) -> None:
        desk = self.workspace.desk
        if desk is None:
            return
        found = await self.workspace.jobs.scan(desk.difference, self.item["id"])
        self.difference = difference(found["text"], why_not=found["why_not"])
        self.paint_text()

    # -- what it does -----------------------------------------------------------------------------------------------------

    def action_does(self, action: str, key: str) -> None:
        if self.workspace.pressed_at < self.shown_at or self.item["state"] != "open":
            return
        self.missing = ""
        if action == "difference":
            self.run_worker(self._open_difference(), group="open")
        elif action == "decision no":
            self.dismiss("no")
        elif action == "decision remember":
            if self.high and not self.opened:
                self.missing = OPEN_FIRST
            else:
                self.dismiss("remember")
        elif action == "option":
            self._choose(int(key))
        elif action == "decision yes":
            self._yes()
        self.offer()

    def _choose(self, number: int) -> None:
        options = self.item["options"]
        if not 1 <= number <= len(options):
            self.missing = f"there is no answer {number}"
            return
        self.chosen = str(options[number - 1][0])
        if self.high:
            self.reason.focus()
        elif self.item["risk"] == "low":
            self.dismiss({"option": self.chosen})
        else:
            self._arm()

    def _yes(self) -> None:
        if self.high:
            self.missing = self._still_missing() or "enter in the last field sends it"
        elif not self.chosen:
            self.missing = "choose an answer by its number"
        elif self.item["risk"] == "low" or self.armed == self.chosen:
            self.dismiss({"option": self.chosen})
        else:
            self._arm()

    def _arm(self) -> None:
        self.workspace.deeds.arm(self.item["id"], f"{self.item['basis']} {self.chosen}")

    @property
    def armed(self) -> str:
        """The answer whose first of two keys was the last that was pressed, for five seconds."""
        deeds = self.workspace.deeds
        return self.chosen if deeds.is_armed(self.item["id"], f"{self.item['basis']} {self.chosen}") else ""

    def on_key(self) -> None:
        self.offer()

    async def _open_difference(self) -> None:
        from loopx_tui.screens.read import show_difference

        await show_difference(self.workspace, self.item["id"])
        self.opened = True
        self.missing = ""
        self.offer()
        if self.high:
            self.reason.focus()

    def _still_missing(self) -> str:
        """What a high answer lacks yet."""
        if not self.opened:
            return OPEN_FIRST
        if not self.chosen:
            return "choose an answer by its number"
        if not self.reason.value.strip():
            return "a reason is needed"
        if self.typed.value.strip() != self.item["goal"]:
            return f"type {self.item['goal']}"
        return ""

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input is self.reason and not self.typed.value:
            self.typed.focus()
            return
        self.action_enter()

    def action_enter(self) -> None:
        if not self.high or self.item["state"] != "open":
            return
        self.missing = self._still_missing()
        self.offer()
        if not self.missing:
            self.dismiss({"option": self.chosen, "reason": self.reason.value.strip(), "goal": self.typed.value.strip()})

    def action_leave(self) -> None:
        if self.reason.has_focus or self.typed.has_focus:
            self.text.focus()
            return
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        self.text.scroll_lines(lines)
