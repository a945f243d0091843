"""The first screen: what was found on this machine, and one field - what should get done?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.screen import ModalScreen
from textual.widgets import Input, Label, TextArea

from loopx_engine import LoopxError, arguments_typed
from loopx_tui.state.first import first_lines, kept_lines
from loopx_tui.state.lines import Line, Span, line
from loopx_tui.state.listing import document
from loopx_tui.widgets.lines import Lines
from loopx_tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from loopx_tui.app import Workspace

PRESETS = ("normal", "careful", "unattended")


class First(ModalScreen[dict[str, Any] | None]):
    """The goal that was made, or None where somebody wants to look around first."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar = [
        Binding("escape", "leave", show=False),
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
        Binding("f3", "rules", show=False),
        Binding("f4", "agent", show=False),
        Binding("ctrl+q", "app.act('quit')", show=False),
    ]

    def __init__(self, app: Workspace) -> None:
        super().__init__()
        self.workspace = app
        self.found: list[dict[str, Any]] = []
        self.agents: list[str] = []
        self.agent = 0
        self.preset = 0
        self.text = VirtualList(app.painter, id="found")
        self.text.can_focus = False
        self.about = Lines(app.painter, id="about", ground="ground")
        self.foot = Lines(app.painter, id="first-foot")
        self.title_field = Input(id="first-title", placeholder="one sentence", compact=True)
        self.criteria = TextArea(id="first-criteria", compact=True, show_line_numbers=False, tab_behavior="focus")

    def compose(self) -> ComposeResult:
        with Container(id="first"):
            yield self.text
            yield Label("What should get done?", id="first-question", markup=False)
            yield self.title_field
            yield Label(
                "How will you know?  one condition a line; ' :: ' and a command prove it", id="first-how", markup=False
            )
            yield self.criteria
            yield self.about
        yield self.foot

    def on_mount(self) -> None:
        self.text.show(lambda width: document(first_lines(self._key(), self.found, width)))
        self.call_after_refresh(self._measure)
        self.title_field.focus()
        self._offer()
        self.run_worker(self._look(), group="machine")

    async def _look(self) -> None:
        desk = self.workspace.desk
        if desk is None:
            return
        listed = await self.workspace.jobs.read(lambda: desk.read("list", noun="actor", limit=50))
        self.agents = [row["name"] for row in listed["items"] if row["kind"] == "agent" and row["state"] == "active"]
        self._offer()
        self.found = await self.workspace.jobs.scan(desk.machine)
        self._measure()

    def _measure(self) -> None:
        self.text.rebuild()
        self.text.styles.height = min(self.text.listing.lines, max(2, self.size.height - 16))

    def _key(self) -> Any:
        desk = self.workspace.desk
        return desk.key() if desk is not None else None

    def _offer(self) -> None:
        agent = self.agents[self.agent] if self.agents else "no agent is registered yet: loopx actor add"
        spans = [
            Span("with ", "faint"),
            Span(agent, "text" if self.agents else "soft"),
            Span("  rules ", "faint"),
            Span(PRESETS[self.preset]),
        ]
        self.about.show([kept_lines(self.workspace.here), line(*spans)])
        keys = [("enter", "make it"), ("tab", "next field"), ("F3", "rules")]
        keys += [("F4", "another agent")] if len(self.agents) > 1 else []
        keys += [("esc", "look around first")]
        told: list[Span] = []
        for key, word in keys:
            told += [Span(key, "accent", bold=True), Span(f" {word}   ", "soft")]
        self.foot.show([Line(tuple(told))])

    def on_resize(self) -> None:
        self.call_after_refresh(self._offer)

    def action_rules(self) -> None:
        self.preset = (self.preset + 1) % len(PRESETS)
        self._offer()

    def action_agent(self) -> None:
        self.agent = (self.agent + 1) % max(1, len(self.agents))
        self._offer()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.run_worker(self._make(), group="make", exclusive=True)

    async def _make(self) -> None:
        """Makes the draft: the words are the person's, so what was typed is what is written."""
        words = {"title": self.title_field.value, "criterion": self.criteria.text, "autonomy": PRESETS[self.preset]}
        words["agent"] = self.agents[self.agent] if self.agents else ""
        desk = self.workspace.desk
        if desk is None or not words["title"].strip():
            self._say("a sentence is needed")
            return
        try:
            arguments = arguments_typed("goal add", words)
            project = await self.workspace.jobs.change(desk.enter_project)
        except LoopxError as error:
            self._say(error.message)
            return
        answer = await self.workspace.deeds.command("goal add", {**arguments, "project": project})
        if answer is not None:
            self.dismiss(answer.answer)
        elif self.workspace.said_text:
            self._say(self.workspace.said_text)

    def _say(self, words: str) -> None:
        self.foot.show([line(Span(words, "bad"))])

    def action_leave(self) -> None:
        self.dismiss(None)
