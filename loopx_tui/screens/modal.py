"""Modal: a raised ground over the panes, with text above and its keys below. What waits beneath hears no key meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget

from loopx_tui.state.lines import Line, Span
from loopx_tui.state.listing import Listing, document
from loopx_tui.widgets.lines import Lines
from loopx_tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from loopx_tui.app import Workspace

Result = TypeVar("Result")


class Raised(VirtualList):
    """A text on the raised ground, as high as its lines."""

    ground = "raised"

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, self.build(width).lines)


class Modal(ModalScreen[Result], Generic[Result]):
    """`text_lines(width)` is what it says; `fields()` what can be typed; `keys()` what its foot offers."""

    AUTO_FOCUS = ""

    def __init__(self, app: Workspace) -> None:
        super().__init__()
        self.workspace = app
        self.text = Raised(app.painter, id="text")
        self.keys_line = Lines(app.painter, id="keys", ground="raised")
        self.bar = Lines(app.painter, id="bar", ground="raised", margin=0)

    def compose(self) -> ComposeResult:
        with Container(id="box"):
            yield self.bar
            with Container(id="inner"):
                yield self.text
                yield from self.fields()
                yield self.keys_line

    def on_mount(self) -> None:
        self.text.show(self.listing)
        self.offer()

    def on_resize(self) -> None:
        self.set_class(self.app.size.width < 100, "-narrow")
        self.call_after_refresh(self._draw_bar)

    def _draw_bar(self) -> None:
        """The half cell of its state down the left side."""
        ground = "bad" if self.has_class("-high") else "accent"
        self.bar.show([Line((Span("▐", "raised", ground=ground),))] * self.bar.size.height)

    def listing(self, width: int) -> Listing:
        """What the text shows."""
        return document(self.text_lines(width))

    def text_lines(self, width: int) -> Sequence[Line]:
        """What it says, for a width."""
        return ()

    def fields(self) -> Sequence[Widget]:
        """What can be typed."""
        return ()

    def keys(self) -> Sequence[tuple[str, str]]:
        """Key and word, most used first."""
        return (("esc", "leave"),)

    def said(self) -> tuple[Span, ...]:
        """What stands at the right of the keys."""
        return ()

    def offer(self) -> None:
        """Paints the keys."""
        spans: list[Span] = []
        for key, word in self.keys():
            spans += [Span(key, "accent", bold=True), Span(f" {word}   ", "soft")]
        self.keys_line.show([Line(tuple(spans), self.said())])

    def paint_text(self) -> None:
        """The text changed, and may be higher or lower now."""
        self.text.rebuild()
        self.text.refresh(layout=True)
        self.offer()
        self.call_after_refresh(self._draw_bar)
