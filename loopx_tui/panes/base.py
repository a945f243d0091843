"""Pane: a list, its detail, and what both are read from. Seven more can be made in this form.

A pane says what it wants to read (`request`), reads it in the thread of reads (`read`, no widget touched), and shows it
(`take`). What stands under its cursor is its subject; a key acts on the subject that was painted, and on no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.message import Message
from textual.widget import Widget

from loopx_engine import Desk
from loopx_tui.keys import of_scope
from loopx_tui.state.filtering import Query, parse
from loopx_tui.state.lines import Line, Span
from loopx_tui.state.listing import Item
from loopx_tui.widgets.lines import Lines
from loopx_tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from loopx_tui.app import Workspace

SETTLE_S = 0.3
Subject = tuple[str, Item]


def bindings_of(scope: str) -> list[Any]:
    """The bindings of a scope of the key table."""
    return [
        Binding(name, f"app.act({key.action!r})", key.word, id=f"{scope}.{key.action}.{name}", show=False)
        for key in of_scope(scope)
        for name in key.keys
    ]


class Pane(Widget):
    """One of the panes; `scope` names it in the key table and in the settings."""

    scope: ClassVar[str] = ""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(id=self.scope)
        self.workspace = workspace
        self.list = VirtualList(workspace.painter, id=f"{self.scope}-list")
        self.detail = VirtualList(workspace.painter, id=f"{self.scope}-detail")
        self.rule = Lines(workspace.painter, id=f"{self.scope}-rule", ground="ground", margin=0)
        self.filter_text = ""
        self.query_terms: Query = ()
        self._painted: tuple[str, str] = ("", "")
        self._painted_at = 0.0
        self._by_hand = False
        self.list.add_class("list")
        self.detail.add_class("detail")
        self.detail.quiet = True
        self.rule.add_class("rule")

    def compose(self) -> ComposeResult:
        yield self.list
        yield self.rule
        yield self.detail

    # -- what each pane says ----------------------------------------------------------------------------------------------

    def request(self) -> dict[str, Any]:
        """What to read, as it stands now."""
        raise NotImplementedError

    def read(self, desk: Desk, request: dict[str, Any]) -> dict[str, Any]:
        """Reads it. Runs in the thread of reads."""
        raise NotImplementedError

    def take(self, data: dict[str, Any]) -> None:
        """Shows what was read."""
        raise NotImplementedError

    def subject(self) -> Subject | None:
        """What stands under the cursor, and its kind."""
        raise NotImplementedError

    # -- the same for all -------------------------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        return self.workspace.now()

    @property
    def roomy(self) -> bool:
        """Whether a row may have its second line and space around it."""
        return self.app.size.width >= 100 and self.app.size.height >= 24

    def set_filter(self, text: str) -> None:
        """Shows only what meets the query."""
        self.filter_text, self.query_terms = text, parse(text)
        self.workspace.want()

    def painted(self, name: str, basis: str) -> None:
        """What the screen shows in full from now on: only this may be answered."""
        if (name, basis) == self._painted:
            return
        self._painted = (name, basis)
        self._painted_at = float("inf")

        def seen() -> None:
            if self._painted == (name, basis):
                self._painted_at = Message().time

        self.call_after_refresh(seen)

    def may_act(self, name: str, basis: str, pressed: float) -> bool:
        """Whether a key pressed then was pressed with exactly this on the screen, and not just as it came there."""
        settle = 0.0 if self._by_hand else SETTLE_S
        return (name, basis) == self._painted and pressed >= self._painted_at + settle and self._in_sight()

    def _in_sight(self) -> bool:
        """The row is on the screen, or the detail has it for itself."""
        return not self.list.display or self.list.on_screen()

    def on_virtual_list_moved(self, event: VirtualList.Moved) -> None:
        event.stop()
        if event.list is self.list:
            self._by_hand = event.by_hand
            self.detail.top = 0
            self.detail.index = -1
            self.moved()
            self.workspace.want(whole=False)
        self.workspace.frame_changed()

    def moved(self) -> None:
        """The list's cursor stands on another row."""

    def on_virtual_list_opened(self, event: VirtualList.Opened) -> None:
        event.stop()
        self.workspace.act("open")

    def refresh_rule(self) -> None:
        """The thin rule between list and detail: a column beside, a line between."""
        if self.rule.size.width == 1:
            self.rule.show([Line((Span("│", "rule"),))] * self.rule.size.height)
        else:
            self.rule.show([Line((Span("─" * self.rule.size.width, "rule"),))])

    def restyle(self) -> None:
        """The theme changed."""
        for widget in (self.list, self.detail, self.rule):
            widget.restyle()

    def rebuild(self) -> None:
        """Ages moved on."""
        self.list.rebuild()
        self.detail.rebuild()
