"""Changing goals, todos and criteria: a form of the verb's own fields, a preview, a confirmation.

A change without fields is previewed too and sent with the basis of that preview.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from loopx_engine import LoopxError, fields_of
from loopx_tui.actions import ACTIONS
from loopx_tui.panes.base import Subject
from loopx_tui.panes.goals import GoalsPane
from loopx_tui.state.listing import Item
from loopx_tui.state.when import counted

if TYPE_CHECKING:
    from loopx_tui.deeds import Deeds

GOAL_FIRST = (
    "title",
    "objective",
    "criterion",
    "check",
    "agent",
    "autonomy",
    "place",
    "budget",
    "reviewer",
    "priority",
)
TODO_FIRST = ("title", "check", "body", "serves", "needs", "scope", "wait", "capability", "kind")


async def goal_add(deeds: Deeds, subject: Subject | None) -> None:
    """`N`: what should get done, and how you will know."""
    desk = deeds.app.desk
    assert desk is not None
    agents = await deeds.app.jobs.read(lambda: desk.read("list", noun="actor", limit=50))
    names = [row["name"] for row in agents["items"] if row["kind"] == "agent" and row["state"] == "active"]
    try:
        project = await deeds.app.jobs.change(desk.enter_project)
    except LoopxError as error:
        deeds.app.say_error(error)
        return
    answer = await _form(
        deeds, "goal add", {"project": project}, {"agent": "\n".join(names[:4])}, "What should get done?", GOAL_FIRST
    )
    if answer is not None:
        deeds.app.show_goal(answer["goal"])
        deeds.app.say(f"{answer['goal']} is a draft: a adds todos, p accepts the plan and starts it")  # fmt: skip


async def goal_run(deeds: Deeds, subject: Subject | None) -> None:
    """`p`: pauses what is active, else accepts the plan and starts it."""
    goal = _goal(deeds)
    if goal is not None:
        verb = "goal pause" if goal["phase"] == "active" else "goal resume"
        said = "paused" if verb == "goal pause" else "active, its plan accepted"
        await _direct(deeds, verb, {"goal": goal["id"]}, goal["id"], f"{goal['id']} is {said}")


async def edit(deeds: Deeds, subject: Subject | None) -> None:
    """`e`: what a goal or todo says; only what was changed is sent."""
    if subject is not None and subject[0] == "todo":
        todo = subject[1]
        now = {"title": todo["title"], "body": todo["body"], "needs": _lines(todo["needs"]), "serves": _lines(todo["serves"]),
               "scope": _lines(todo["scopes"]), "wait": todo["wait"] or ""}  # fmt: skip
        await _form(
            deeds, "todo edit", {"todo": todo["id"]}, now, f"Edit {todo['title']}", TODO_FIRST, only_changed=True
        )
        return
    goal = _goal(deeds)
    if goal is not None:
        now = {
            "title": goal["title"],
            "objective": goal["objective"],
            "priority": str(goal["priority"]),
            "autonomy": goal["autonomy"],
        }
        await _form(
            deeds, "goal edit", {"goal": goal["id"]}, now, f"Edit {goal['title']}", GOAL_FIRST, only_changed=True
        )


async def reopen(deeds: Deeds, subject: Subject | None) -> None:
    """`r`: a finished todo or goal again."""
    if subject is not None and subject[0] == "todo":
        await _direct(
            deeds, "todo reopen", {"todo": subject[1]["id"]}, subject[1]["id"], f"{subject[1]['id']} is open again"
        )
        return
    goal = _goal(deeds)
    if goal is not None:
        await _direct(deeds, "goal reopen", {"goal": goal["id"]}, goal["id"], f"{goal['id']} is active again")


async def check_set(deeds: Deeds, subject: Subject | None) -> None:
    """`t`: the check of what is selected, else the goal's default one."""
    if subject is None:
        return
    kind, item = subject
    named = item if kind in ("todo", "criterion") else _goal(deeds)
    if named is not None:
        now = {"argv": _command(item.get("argv"))} if kind in ("todo", "criterion") else {}
        words = item.get("title") or item.get("text") or ""
        await _form(
            deeds,
            "check set",
            {"subject": named["id"]},
            now,
            f"What proves it: {words}",
            ("argv", "timeout", "protects", "input"),
        )


async def todo_earlier(deeds: Deeds, subject: Subject | None) -> None:
    """`[`: before the one above."""
    await _order(deeds, subject, -1)


async def todo_later(deeds: Deeds, subject: Subject | None) -> None:
    """`]`: behind the one below."""
    await _order(deeds, subject, 1)


async def stop(deeds: Deeds, subject: Subject | None) -> None:
    """`S`: ends what runs of this goal, with all its processes, and says what is left."""
    goal, desk = _goal(deeds), deeds.app.desk
    if goal is None or desk is None:
        return
    deeds.app.say(f"stopping {goal['id']}", "accent")
    try:
        came = await deeds.app.jobs.change(desk.stop, goal["id"])
    except LoopxError as error:
        deeds.app.say_error(error)
        return
    left = len(came["processes_left"])
    ended = f"{counted(len(came['turns_ended']), 'turn')} ended"
    kept = f"{left} processes are left" if left else "no process is left"
    deeds.app.say(f"{goal['id']} stopped · {ended} · {kept}", "bad" if left else "soft")
    deeds.app.want()


async def undo(deeds: Deeds, subject: Subject | None) -> None:
    """`z`: takes back the last change that can be taken back."""
    receipt, what = deeds.undoable
    if not receipt:
        deeds.app.say("nothing of this screen can be taken back")
        return
    answer = await deeds.command("undo", {"receipt": receipt}, said=f"taken back: {what}")
    if answer is not None:
        deeds.undoable = ("", "")


def _formed(verb: str, subject_field: str, title: str, first: tuple[str, ...] = ()) -> Any:
    """A form about one thing: its id is fixed, everything else is asked."""

    async def deed(deeds: Deeds, subject: Subject | None) -> None:
        kind = ACTIONS[verb].subject
        item = _goal(deeds) if kind == "goal" else subject[1] if subject is not None else None
        if item is not None:
            words = item.get("title") or item.get("question") or item.get("text") or ""
            await _form(deeds, verb, {subject_field: item["id"]}, {}, f"{title}: {words}", first)

    return deed


async def _form(
    deeds: Deeds,
    verb: str,
    fixed: dict[str, Any],
    now: dict[str, str],
    title: str,
    first: tuple[str, ...] = (),
    *,
    only_changed: bool = False,
) -> dict[str, Any] | None:
    """Fields, preview, confirmation, command. The command's answer, or None."""
    from loopx_tui.screens.form import Form, FormField

    asked = [field for field in fields_of(verb) if field.name not in fixed]
    asked.sort(key=lambda field: (first.index(field.name) if field.name in first else len(first),))
    shown = [field for field in asked if field.name in first or not first or field.needed]
    fields = [FormField(f.name, f.kind, f.help, f.needed, f.choices, now.get(f.name, "")) for f in shown]
    sent = await deeds.app.push_screen_wait(
        Form(deeds.app, verb, fields, fixed, title=title, only_changed=only_changed)
    )
    if sent is None:
        return None
    about = next((value for value in fixed.values() if isinstance(value, str)), "")
    answer = await deeds.command(verb, sent.arguments, basis=sent.basis, about=about)
    return answer.answer if answer is not None else None


async def _direct(deeds: Deeds, verb: str, arguments: dict[str, Any], about: str, said: str) -> None:
    """A change without fields: previewed, and sent with the basis of that preview; nothing where one is on its way."""
    if about in deeds.app.pending:
        return
    preview = await deeds.preview(verb, arguments)
    if isinstance(preview, LoopxError):
        deeds.app.say_error(preview)
        return
    await deeds.command(verb, arguments, basis=preview.basis, about=about, said=said)


async def _order(deeds: Deeds, subject: Subject | None, step: int) -> None:
    pane = deeds.app.pane
    if subject is None or not isinstance(pane, GoalsPane):
        return
    place = pane.todos.index_of(subject[1]["id"])
    other = pane.todos.peek(place + step) if place is not None and 0 <= place + step < len(pane.todos) else None
    if other is None:
        deeds.app.say("it stands at the end already")
        return
    moved, before = (subject[1], other) if step < 0 else (other, subject[1])
    await _direct(
        deeds, "todo order", {"todo": moved["id"], "before": before["id"]}, moved["id"], f"{subject[1]['id']} moved"
    )


def _goal(deeds: Deeds) -> Item | None:
    pane = deeds.app.pane
    return pane.goal if isinstance(pane, GoalsPane) else None


def _lines(items: Any) -> str:
    return "\n".join(str(item) for item in items or ())


def _command(argv: Any) -> str:
    import shlex

    return shlex.join(argv) if argv else ""


DO: dict[str, Callable[[Deeds, Subject | None], Coroutine[Any, Any, None]]] = {
    "goal add": goal_add,
    "goal run": goal_run,
    "edit": edit,
    "reopen": reopen,
    "check set": check_set,
    "todo earlier": todo_earlier,
    "todo later": todo_later,
    "stop": stop,
    "undo": undo,
    "todo add": _formed("todo add", "goal", "A todo for", TODO_FIRST),
    "todo drop": _formed("todo drop", "todo", "Drop"),
    "todo split": _formed("todo split", "todo", "Split"),
    "criterion add": _formed("criterion add", "goal", "A criterion for"),
    "criterion meet": _formed("criterion meet", "criterion", "It is met"),
    "criterion waive": _formed("criterion waive", "criterion", "Give up"),
    "goal close": _formed("goal close", "goal", "Close"),
    "goal archive": _formed("goal archive", "goal", "Archive"),
    "decision snooze": _formed("decision snooze", "decision", "Ask again later"),
    "decision withdraw": _formed("decision withdraw", "decision", "Take back"),
}
