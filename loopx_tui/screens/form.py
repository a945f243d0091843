"""Form: the fields of a verb, then exactly what would change, then the confirmation. The three steps of every change.

The preview is the engine's; confirming quotes its basis, so what was shown is what is done, or nothing is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.binding import Binding
from textual.containers import Container, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Label, TextArea

from loopx_engine import LoopxError, arguments_typed
from loopx_tui.screens.modal import Modal
from loopx_tui.state.lines import Line, Span, line, wrapped
from loopx_tui.state.preview import preview_lines

if TYPE_CHECKING:
    from loopx_tui.app import Workspace

TALL = ("text", "lines")
TALL_LINES = 3


@dataclass(frozen=True)
class FormField:
    """As `Field` of the engine, with what stands in it at first."""

    name: str
    kind: str
    help: str
    needed: bool = False
    choices: tuple[str, ...] = ()
    value: str = ""


@dataclass(frozen=True)
class Sent:
    """What was confirmed, and the basis of the preview that was on the screen."""

    arguments: dict[str, Any]
    basis: str


class Form(Modal[Sent | None]):
    """`fixed` are arguments that are not asked; `only_changed` sends only fields that differ from what stood there."""

    BINDINGS: ClassVar = [
        Binding("escape", "leave", show=False),
        Binding("ctrl+j,ctrl+enter,f2", "forward", show=False, priority=True),
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
    ]

    def __init__(
        self,
        app: Workspace,
        verb: str,
        fields: Sequence[FormField],
        fixed: Mapping[str, Any],
        *,
        title: str,
        only_changed: bool = False,
    ) -> None:
        super().__init__(app)
        self.verb, self.asked, self.fixed, self.heading = verb, list(fields), dict(fixed), title
        self.only_changed = only_changed
        self.preview: Any = None
        self.arguments: dict[str, Any] = {}
        self.fault = ""
        self.shown_at = float("inf")
        self._left: Widget | None = None
        self.inputs: dict[str, Input | TextArea] = {field.name: _widget(field) for field in self.asked}
        self.add_class("-whole")

    def text_lines(self, width: int) -> Sequence[Line]:
        lines = wrapped(self.heading, width, bold=True, most=2)
        if self.preview is not None:
            lines += preview_lines(self.preview, width)
        elif self.fault:
            lines += wrapped(self.fault, width, "bad", most=4)
        else:
            lines += [line(Span(self._help(), "soft"))]
        return lines

    def fields(self) -> Sequence[Widget]:
        rows = [
            Container(
                Label(field.name.replace("_", " "), markup=False),
                self.inputs[field.name],
                classes=f"field {_shape(field)}",
            )
            for field in self.asked
        ]
        return (VerticalScroll(*rows, id="fields", can_focus=False),)

    def keys(self) -> Sequence[tuple[str, str]]:
        if self.preview is not None:
            return (("enter", "do it"), ("esc", "change it"))
        last = ("enter", "what would change") if len(self.asked) < 2 else ("enter", "next, then what would change")
        return (last, ("tab", "next field"), ("F2", "what would change"), ("esc", "leave"))

    def said(self) -> tuple[Span, ...]:
        if self.preview is None:
            return ()
        signed = "signed" in self.preview.authority
        return (
            Span(f"{self.preview.risk} risk · {'signed' if signed else 'unsigned'}", "accent" if signed else "faint"),
        )

    def on_mount(self) -> None:
        super().on_mount()
        if self.asked:
            self.inputs[self.asked[0].name].focus()
        else:
            self.action_forward()

    def _help(self) -> str:
        focused = next((field for field in self.asked if self.inputs[field.name].has_focus), None)
        return f"{focused.help}{' · one a line' if focused.kind == 'lines' else ''}" if focused else ""

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Whoever goes back into a field leaves the preview."""
        if event.widget in self.inputs.values():
            self.preview = None
            self.paint_text()

    # -- steps ------------------------------------------------------------------------------------------------------------

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.preview is not None:
            self._confirm()
            return
        names = [field.name for field in self.asked]
        place = next((n for n, name in enumerate(names) if self.inputs[name] is event.input), len(names) - 1)
        rest = [name for name in names[place + 1 :] if not _said(self.inputs[name])]
        if place == 0 and rest and not self.only_changed:
            self.inputs[names[place + 1]].focus()
            return
        self.action_forward()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._edited()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._edited()

    def _edited(self) -> None:
        if self.preview is not None or self.fault:
            self.preview, self.fault = None, ""
            self.paint_text()

    def action_forward(self) -> None:
        if self.preview is not None:
            self._confirm()
        else:
            self.run_worker(self._look(), group="look", exclusive=True)

    async def _look(self) -> None:
        """Asks the engine what this would change."""
        try:
            self.arguments = {**self.fixed, **arguments_typed(self.verb, self._words())}
        except LoopxError as error:
            self._fail(error)
            return
        preview = await self.workspace.deeds.preview(self.verb, self.arguments)
        if isinstance(preview, LoopxError):
            self._fail(preview)
            return
        self.preview, self.fault = preview, ""
        self._left = self.focused
        self.text.focus()
        self.paint_text()
        self.shown_at = float("inf")
        self.call_after_refresh(self._shown)

    def _shown(self) -> None:
        self.shown_at = Message().time

    def _fail(self, error: LoopxError) -> None:
        self.fault = f"{error.message}" + (f"  · next: {error.next}" if error.next else "")
        self.paint_text()

    def _words(self) -> dict[str, str]:
        said = {field.name: _said(self.inputs[field.name]) for field in self.asked}
        if not self.only_changed:
            return said
        return {field.name: said[field.name] for field in self.asked if said[field.name] != field.value}

    def _confirm(self) -> None:
        if self.preview is not None and self.workspace.pressed_at >= self.shown_at:
            self.dismiss(Sent(self.arguments, self.preview.basis))

    def on_key(self, event: Message) -> None:
        if getattr(event, "key", "") == "enter" and self.preview is not None:
            event.stop()
            event.prevent_default()
            self._confirm()

    def action_leave(self) -> None:
        if self.preview is not None:
            self.preview = None
            self.paint_text()
            if self._left is not None:
                self._left.focus()
            return
        self.dismiss(None)


def _shape(field: FormField) -> str:
    return "tall" if field.kind in TALL else "short"


def _widget(field: FormField) -> Input | TextArea:
    if field.kind in TALL:
        area = TextArea(field.value, compact=True, show_line_numbers=False, soft_wrap=True, tab_behavior="focus")
        area.cursor_blink = False
        return area
    hint = " | ".join(field.choices) if field.choices else ("needed" if field.needed else "")
    made = Input(field.value, placeholder=hint, compact=True)
    made.cursor_blink = False
    return made


def _said(widget: Input | TextArea) -> str:
    return widget.text if isinstance(widget, TextArea) else widget.value
