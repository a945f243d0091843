"""Ask: one thing to type, with a sentence on what becomes of it. A secret is not shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Input

from loopx_tui.screens.modal import Modal
from loopx_tui.state.lines import BLANK, Line, wrapped

if TYPE_CHECKING:
    from loopx_tui.app import Workspace


class Ask(Modal[str | None]):
    """What was typed, or None where it was left."""

    BINDINGS: ClassVar = [Binding("escape", "leave", show=False)]

    def __init__(
        self, app: Workspace, title: str, label: str, words: str, *, secret: bool = False, needed: bool = False
    ) -> None:
        super().__init__(app)
        self.heading, self.label, self.words = title, label, words
        self.needed = needed
        self.field = Input(password=secret, id="field", placeholder=label, compact=True)
        self.missing = False

    def text_lines(self, width: int) -> Sequence[Line]:
        title = wrapped(self.heading, width, bold=True, most=4)
        return [*title, BLANK, *wrapped(self.words, width, "bad" if self.missing else "soft"), BLANK]

    def fields(self) -> Sequence[Widget]:
        return (self.field,)

    def keys(self) -> Sequence[tuple[str, str]]:
        return (("enter", self.label), ("esc", "leave it undecided"))

    def on_mount(self) -> None:
        super().on_mount()
        self.field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.needed and not event.value.strip():
            self.missing = True
            self.words = f"A {self.label} is needed."
            self.paint_text()
            return
        self.dismiss(event.value)

    def action_leave(self) -> None:
        self.dismiss(None)
