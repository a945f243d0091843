"""Read: a longer text over the panes - a difference, why something is where it is, the keys. It scrolls; esc leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding

from loopx_engine import LoopxError
from loopx_tui.actions import ACTIONS, why_not_for
from loopx_tui.keys import SCOPES, many_shown, of_scope
from loopx_tui.screens.modal import Modal
from loopx_tui.state.difference import difference
from loopx_tui.state.lines import BLANK, Line, Span, line, wrapped
from loopx_tui.state.when import clock

if TYPE_CHECKING:
    from loopx_tui.app import Workspace

Written = Callable[[int], Sequence[Line]]


class Read(Modal[None]):
    """`write(width)` gives the lines."""

    BINDINGS: ClassVar = [
        Binding("escape,q,enter,question_mark,d,w", "leave", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("ctrl+d,pagedown,space,J", "page(1)", show=False),
        Binding("ctrl+u,pageup,K", "page(-1)", show=False),
        Binding("g,home", "end(-1)", show=False),
        Binding("G,end", "end(1)", show=False),
    ]

    def __init__(self, app: Workspace, write: Written) -> None:
        super().__init__(app)
        self.write = write
        self.add_class("-whole")

    def text_lines(self, width: int) -> Sequence[Line]:
        return self.write(width)

    def keys(self) -> Sequence[tuple[str, str]]:
        return (("esc", "leave"), ("j k", "scroll"), ("space", "on"))

    def on_mount(self) -> None:
        super().on_mount()
        self.text.focus()

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        self.text.scroll_lines(lines)

    def action_page(self, pages: int) -> None:
        self.text.page(pages * 0.8)

    def action_end(self, where: int) -> None:
        self.text.go_to(where)


async def show_difference(app: Workspace, name: str) -> bool:
    """The whole difference of a decision or goal; False where there is none to see."""
    desk = app.desk
    if desk is None:
        return False
    found = await app.jobs.scan(desk.difference, name)
    seen = difference(found["text"], why_not=found["why_not"])
    title = line(Span("Difference", bold=True), Span("  "), *seen.summary, right=name)
    await app.push_screen_wait(Read(app, lambda width: [title, BLANK, *seen.lines]))
    return bool(seen.lines)


async def show_why(app: Workspace, name: str) -> None:
    """Why something is where it is, and the last receipts about it."""
    desk = app.desk
    if desk is None:
        return
    try:
        found = await app.jobs.read(lambda: desk.read("why", id=name))
    except LoopxError as error:
        app.say_error(error)
        return
    await app.push_screen_wait(Read(app, lambda width: why_lines(found, width, app.now())))


def why_lines(found: dict[str, Any], width: int, now: int) -> list[Line]:
    """Reasons in sentences, then receipts."""
    lines = [line(Span("Why", bold=True), right=found["id"]), BLANK]
    for reason in found["reasons"]:
        lines += wrapped(reason, width)
    if found["receipts"]:
        lines += [BLANK, line(Span("Last receipts", bold=True))]
    for receipt in found["receipts"]:
        who = found["names"].get(receipt["actor"], receipt["actor"])
        lines.append(
            line(
                Span(f"{clock(receipt['at'], now)}  ", "faint"),
                Span(f"{receipt['verb']}  ", "soft"),
                Span(who, "faint"),
                right=receipt["id"],
            )
        )
    return lines


def show_help(app: Workspace) -> None:
    """The keys that work where the focus is, then everywhere; what cannot be used now says why."""
    scope, subject = app.pane.scope, app.pane.subject()

    def write(width: int) -> list[Line]:
        lines = [line(Span("Keys", bold=True), right="every one can be changed in settings.toml"), BLANK]
        for name in (scope, "decision", "everywhere"):
            lines.append(line(Span(SCOPES[name], "accent", bold=True)))
            for key in of_scope(name):
                action = ACTIONS[key.action]
                why_not = why_not_for(action, subject) if name == scope else ""
                keys = many_shown(app.keys_of(key))
                told = Span(action.help, "faint" if why_not else "text")
                lines.append(line(Span(keys, "accent", bold=True, cells=20), told, right=why_not))
            lines.append(BLANK)
        return lines

    app.push_screen(Read(app, write))
