"""The themes, each shown as the cursor comes to it; enter keeps one, esc brings the old one back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from loopx_tui.screens.modal import Modal
from loopx_tui.settings import remember_theme
from loopx_tui.state.lines import BLANK, Line, Span, line
from loopx_tui.state.listing import Item, Listing, Section, Whole
from loopx_tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from loopx_tui.app import Workspace


class ThemePicker(Modal[None]):
    """Ours first, then Textual's."""

    BINDINGS: ClassVar = [
        Binding("escape,q", "leave", show=False),
        Binding("enter", "keep", show=False),
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
    ]

    def __init__(self, app: Workspace) -> None:
        super().__init__(app)
        self.before = app.theme
        ours = [name for name in app.available_themes if name.startswith("loopx-")]
        rest = sorted(name for name in app.available_themes if name not in ours)
        self.names = [{"id": name} for name in (*ours, *rest)]
        self.text.cursor = self.before
        self.add_class("-whole")

    def listing(self, width: int) -> Listing:
        def row(item: Item, cells: int) -> tuple[Line, ...]:
            return (line(Span(item["id"]), right="ours" if item["id"].startswith("loopx-") else ""),)

        return Listing((Section("themes", (line(Span("Theme", bold=True)), BLANK), Whole(self.names), 1, row),))

    def keys(self) -> Sequence[tuple[str, str]]:
        return (("enter", "keep"), ("esc", "as before"), ("j k", "look"))

    def on_mount(self) -> None:
        super().on_mount()
        self.text.focus()

    def on_virtual_list_moved(self, event: VirtualList.Moved) -> None:
        event.stop()
        if event.by_hand and self.text.cursor:
            self.workspace.theme = self.text.cursor

    def action_move(self, rows: int) -> None:
        self.text.move(rows)

    def action_keep(self) -> None:
        try:
            remember_theme(self.workspace.environ, self.workspace.theme)
        except OSError as error:
            self.workspace.say(f"the theme is kept for this time only: {error.strerror}", "bad")
        self.dismiss(None)

    def action_leave(self) -> None:
        self.workspace.theme = self.before
        self.dismiss(None)
