"""Looking: the actions that change nothing but what is on the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.widgets import Input

from loopx_tui.panes.goals import GoalsPane
from loopx_tui.panes.needs import NeedsPane

if TYPE_CHECKING:
    from loopx_tui.app import Workspace
    from loopx_tui.widgets.virtual_list import VirtualList

Look = Callable[["Workspace"], Any]
ZOOMS = ("", "-list", "-detail")


def _list(app: Workspace) -> VirtualList:
    """The list that has the focus."""
    pane = app.pane
    return pane.detail if pane.detail.has_focus else pane.list


def _other_side(app: Workspace) -> None:
    pane = app.pane
    (pane.list if pane.detail.has_focus else pane.detail).focus()
    app.call_after_refresh(app.frame_changed)


def _detail(app: Workspace) -> None:
    app.pane.detail.focus()
    app.call_after_refresh(app.frame_changed)


def _back(app: Workspace) -> None:
    pane, field = app.pane, app.query_one("#filter", Input)
    if field.has_focus or pane.filter_text:
        field.value = ""
        field.display = False
        pane.list.focus()
    elif pane.detail.has_focus:
        pane.list.focus()
    elif pane.has_class("-list") or pane.has_class("-detail"):
        _set_zoom(app, "")
    app.call_after_refresh(app.frame_changed)


def _filter(app: Workspace) -> None:
    field = app.query_one("#filter", Input)
    field.display = True
    field.focus()


def _zoom(app: Workspace) -> None:
    now = next((name for name in ZOOMS[1:] if app.pane.has_class(name)), "")
    _set_zoom(app, ZOOMS[(ZOOMS.index(now) + 1) % len(ZOOMS)])


def _set_zoom(app: Workspace, zoom: str) -> None:
    pane = app.pane
    for name in ZOOMS[1:]:
        pane.set_class(name == zoom, name)
    (pane.detail if zoom == "-detail" else pane.list).focus()


def _open(app: Workspace) -> None:
    pane, subject = app.pane, app.pane.subject()
    if subject is not None and subject[0] == "decision" and (isinstance(pane, NeedsPane) or pane.detail.has_focus):
        from loopx_tui.answering import option

        app.deeds.start(option(app.deeds, subject))
    elif pane.detail.has_focus:
        app.act("why")
    else:
        _detail(app)


def _go_to_goal(app: Workspace) -> None:
    subject = app.pane.subject()
    if subject is not None and subject[1].get("goal"):
        app.show_goal(str(subject[1]["goal"]))


def _difference(app: Workspace) -> None:
    from loopx_tui.screens.read import show_difference

    pane, subject = app.pane, app.pane.subject()
    name = pane.goal["id"] if isinstance(pane, GoalsPane) and pane.goal else subject[1]["id"] if subject else ""
    if name.startswith(("d-", "g-")):
        app.deeds.start(show_difference(app, name))
    else:
        app.say("there is no difference here")


def _live(app: Workspace) -> None:
    from loopx_tui.screens.live import Live

    pane = app.pane
    turns = pane.card["live"] if isinstance(pane, GoalsPane) and pane.card else []
    if turns:
        app.push_screen(Live(app, turns[0]))
    else:
        app.say("no turn is running for this goal")


def _why(app: Workspace) -> None:
    from loopx_tui.screens.read import show_why

    subject = app.pane.subject()
    if subject is not None and "id" in subject[1] and subject[0] != "finding":
        app.deeds.start(show_why(app, str(subject[1]["id"])))
    else:
        app.say("nothing is selected that has a why")


def _help(app: Workspace) -> None:
    from loopx_tui.screens.read import show_help

    show_help(app)


def _theme(app: Workspace) -> None:
    from loopx_tui.screens.theme import ThemePicker

    app.push_screen(ThemePicker(app))


def _palette(app: Workspace) -> None:
    app.action_command_palette()


def _quit(app: Workspace) -> None:
    if app.jobs.in_flight:
        app.say("a command is on its way; q again leaves once it has arrived", "accent")
        return
    app.leave()


def _lock(app: Workspace) -> None:
    if app.desk is not None:
        app.desk.lock()
        app.say("the opened key is forgotten")


def _copy(app: Workspace, text: str) -> None:
    from loopx_tui.terminal.clipboard import copy

    app.say(f"{text}  {copy(app, text)}")


def _copy_id(app: Workspace) -> None:
    subject = app.pane.subject()
    if subject is not None:
        _copy(app, str(subject[1]["id"]))


def _copy_command(app: Workspace) -> None:
    subject = app.pane.subject()
    if subject is not None:
        verb = "answer" if subject[0] == "decision" else "show"
        _copy(app, f"loopx {verb} {subject[1].get('subject') or subject[1]['id']}")


LOOKS: dict[str, Look] = {
    "down": lambda app: _list(app).move(1),
    "up": lambda app: _list(app).move(-1),
    "first": lambda app: _list(app).go_to(0),
    "last": lambda app: _list(app).go_to(1 << 60),
    "half down": lambda app: _list(app).page(0.5),
    "half up": lambda app: _list(app).page(-0.5),
    "detail down": lambda app: app.pane.detail.scroll_lines(3),
    "detail up": lambda app: app.pane.detail.scroll_lines(-3),
    "other side": _other_side,
    "detail": _detail,
    "open": _open,
    "back": _back,
    "filter": _filter,
    "zoom": _zoom,
    "pane needs": lambda app: app.show_pane("needs"),
    "pane goals": lambda app: app.show_pane("goals"),
    "last pane": lambda app: app.last_pane(),
    "go to goal": _go_to_goal,
    "difference": _difference,
    "live": _live,
    "follow": lambda app: None,
    "why": _why,
    "help": _help,
    "palette": _palette,
    "theme": _theme,
    "copy id": _copy_id,
    "copy command": _copy_command,
    "start engine": lambda app: app.deeds.start_engine(),
    "lock key": _lock,
    "redraw": lambda app: app.refresh(layout=True),
    "quit": _quit,
}
