"""Live: what a running turn says, as it says it. It stays at the end while it follows; scrolling back stops that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding

from loopx_tui.keys import of_scope
from loopx_tui.screens.modal import Modal
from loopx_tui.state.goals import transcript_lines
from loopx_tui.state.lines import BLANK, Line, Span, line
from loopx_tui.state.listing import Listing, document

if TYPE_CHECKING:
    from loopx_tui.app import Workspace

EVERY_S = 0.25
KEPT = 20_000


class Live(Modal[None]):
    """The transcript of one turn."""

    BINDINGS: ClassVar = [
        Binding("escape,q,l", "leave", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("ctrl+d,pagedown,space,J", "scroll(20)", show=False),
        Binding("ctrl+u,pageup,K", "scroll(-20)", show=False),
        Binding(",".join(key for row in of_scope("live") for key in row.keys), "follow", show=False),
    ]

    def __init__(self, app: Workspace, turn: dict[str, Any]) -> None:
        super().__init__(app)
        self.turn = turn
        self.lines: list[Line] = []
        self.raw: list[str] = []
        self.position = -1
        self.width = 0
        self.text.follow = True
        self.add_class("-whole")

    def listing(self, width: int) -> Listing:
        if width != self.width:
            self.width = width
            self.lines = transcript_lines(self.raw, width)
        said = f"  {self.turn['actor_name']} · {self.turn['todo_title'] or self.turn['purpose']}"
        head = [line(Span("Live", bold=True), Span(said, "soft"), right=self.turn["turn"]), BLANK]
        return document([*head, *(self.lines or [line(Span("it has not said anything yet", "faint"))])])

    def keys(self) -> Sequence[tuple[str, str]]:
        return (("F", "follow" if not self.text.follow else "following"), ("j k", "scroll"), ("esc", "leave"))

    def on_mount(self) -> None:
        super().on_mount()
        self.text.focus()
        self._more()
        self.set_interval(EVERY_S, self._more)

    def _more(self) -> None:
        self.run_worker(self._read(), group="transcript", exclusive=True)

    async def _read(self) -> None:
        desk = self.workspace.desk
        if desk is None:
            return
        more, self.position = await self.workspace.jobs.scan(desk.transcript, self.turn["transcript"], self.position)
        if more:
            self.raw = [*self.raw, *more][-KEPT:]
            self.lines = [*self.lines, *transcript_lines(more, max(20, self.width))][-KEPT:]
            self.text.rebuild()

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        self.text.scroll_lines(lines)
        self.text.follow = self.text.at_end and lines > 0
        self.offer()

    def action_follow(self) -> None:
        self.text.follow = True
        self.text.to_end()
        self.offer()
