"""Answering a decision, by its tier (MODEL.md 6): low at once, medium by a second key, high on its own screen.

An answer goes only to what was on the screen, whole, when its key was pressed, and names the digest of what was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from loopx_tui.panes.base import Subject
from loopx_tui.panes.needs import NeedsPane, read_decision

if TYPE_CHECKING:
    from loopx_tui.deeds import Deeds

MOVED = "that had just come onto the screen; press again"


async def yes(deeds: Deeds, subject: Subject | None) -> None:
    """`y`: as far as the decision's risk lets one key go."""
    answer = await _shown(deeds, subject)
    if answer is None:
        return
    item = answer["item"]
    if item["risk"] == "high" or item["risk"] not in ("low", "medium") or item["options"]:
        await on_screen(deeds, answer)
        return
    name, basis = item["id"], item["basis"]
    if item["risk"] == "medium" and not deeds.is_armed(name, basis):
        deeds.arm(name, basis)
        deeds.app.say(f"y again answers yes: {answer['acts'][0] if answer['acts'] else item['question']}", "accent")
        return
    deeds.disarm()
    await send(deeds, item, "yes")


async def no(deeds: Deeds, subject: Subject | None) -> None:
    """`n`: asks why; the reason goes to whoever asked."""
    answer = await _shown(deeds, subject)
    if answer is not None:
        await say_no(deeds, answer)


async def say_no(deeds: Deeds, answer: dict[str, Any]) -> bool:
    """Asks for the reason and answers no. False where the person left it undecided."""
    from loopx_tui.screens.ask import Ask

    item = answer["item"]
    needed = item["risk"] == "high"
    words = "It goes to whoever asked. " + ("This risk needs one." if needed else "It may be empty.")
    reason = await deeds.app.push_screen_wait(Ask(deeds.app, f"No: {item['question']}", "reason", words, needed=needed))
    if reason is None:
        return False
    more = {"goal": item["goal"]} if needed else {}
    return await send(deeds, item, "no", reason=reason, **more)


async def remember(deeds: Deeds, subject: Subject | None) -> None:
    """`Y`: yes, and from now on; the exact rule is shown as a step of its own."""
    answer = await _shown(deeds, subject)
    if answer is None:
        return
    if answer["item"]["risk"] in ("low", "medium"):
        await say_always(deeds, answer)
    else:
        await on_screen(deeds, answer)


async def say_always(deeds: Deeds, answer: dict[str, Any]) -> bool:
    """The rule, its end and its uses as a form with a preview. False where it was left."""
    from loopx_tui.screens.form import Form, FormField
    from loopx_tui.state.when import HOUR

    item, offer = answer["item"], answer["remember"]
    if not offer["offered"]:
        deeds.app.say(f"this cannot be remembered: {offer['why_not']}")
        return False
    fields = [
        FormField("scope", "line", f"which {offer['kind']} needs no question from now on", True, value=offer["pattern"]),
        FormField("until", "when", "when that ends, like 24h or 3d", True, value=f"{offer['until_ms'] // HOUR}h"),
        FormField("uses", "number", "how often at most", True, value=str(offer["uses"])),
    ]  # fmt: skip
    if "high" in (offer["risk"], item["risk"]):
        fields.append(FormField("reason", "line", "why; this risk needs one", True))
        fields.append(FormField("goal", "line", f"type {item['goal']}: this risk needs it", True))
    fixed = {"decision": item["id"], "option": "yes", "basis": item["basis"], "remember": True}
    sent = await deeds.app.push_screen_wait(
        Form(deeds.app, "decision answer", fields, fixed, title=f"Yes, and from now on: {item['question']}")
    )
    if sent is None:
        return False
    return await send(
        deeds, item, "yes", **{k: v for k, v in sent.arguments.items() if k not in ("decision", "option", "basis")}
    )


async def text(deeds: Deeds, subject: Subject | None) -> None:
    """`e`: an answer in words, which goes to whoever asked."""
    from loopx_tui.screens.ask import Ask

    answer = await _shown(deeds, subject)
    if answer is None:
        return
    if answer["item"]["risk"] == "high" or answer["item"]["options"]:
        await on_screen(deeds, answer)
        return
    item = answer["item"]
    words = await deeds.app.push_screen_wait(
        Ask(deeds.app, item["question"], "answer", "Your words go to whoever asked, as a yes.", needed=True)
    )
    if words is not None:
        await send(deeds, item, "yes", text=words)


async def option(deeds: Deeds, subject: Subject | None) -> None:
    """A number on the decision's own screen; elsewhere it opens that screen."""
    answer = await _shown(deeds, subject)
    if answer is not None:
        await on_screen(deeds, answer)


async def on_screen(deeds: Deeds, answer: dict[str, Any]) -> None:
    """The decision on its own screen, with everything its risk asks for."""
    from loopx_tui.screens.decision import DecisionScreen

    sent = await deeds.app.push_screen_wait(DecisionScreen(deeds.app, answer))
    if sent == "no":
        await say_no(deeds, answer)
    elif sent == "remember":
        await say_always(deeds, answer)
    elif isinstance(sent, dict):
        chosen = dict(sent)
        await send(deeds, answer["item"], str(chosen.pop("option")), **chosen)


async def send(deeds: Deeds, item: dict[str, Any], chosen: str, **more: Any) -> bool:
    """Answers, bound to the digest of what was shown."""
    given = {name: value for name, value in more.items() if value not in ("", None)}
    arguments = {"decision": item["id"], "option": chosen, "basis": item["basis"], **given}
    said = f"{item['id']} answered {chosen}"
    return await deeds.command("decision answer", arguments, about=item["id"], said=said) is not None


async def _shown(deeds: Deeds, subject: Subject | None) -> dict[str, Any] | None:
    """The decision exactly as it is on the screen; None, with a word, where it was not there when the key was pressed."""
    pane = deeds.app.pane
    if subject is None:
        return None
    if isinstance(pane, NeedsPane):
        answer = pane.shown()
        if answer is None:
            deeds.app.say("it is still being read; press again")
            return None
        if not pane.may_act(answer["item"]["id"], answer["item"]["basis"], deeds.app.pressed_at):
            deeds.app.say(MOVED)
            return None
        return None if answer["item"]["id"] in deeds.app.pending else answer
    desk = deeds.app.desk
    return await deeds.app.jobs.read(read_decision, desk, subject[1]["id"]) if desk is not None else None


DO: dict[str, Callable[[Deeds, Subject | None], Coroutine[Any, Any, None]]] = {
    "decision yes": yes,
    "decision no": no,
    "decision remember": remember,
    "decision text": text,
    "option": option,
}
