"""Goals: the list with how far each is and why it stands there, and the card of one: what is wanted, proved, running, next."""

from __future__ import annotations

from typing import Any

from loopx_tui.state.lines import BLANK, Line, Span, chip, hung, line, wrapped
from loopx_tui.state.listing import Item, Listing, Rows, Section, Whole
from loopx_tui.state.when import DAY, calm_age, clock, money, stopwatch, tokens

WORDS = {"RUN": "run", "DONE": "good"}
BAR = 12
MARKS = {
    "done": ("✓ ", "good"), "running": ("▸ ", "run"), "proving": ("▸ ", "run"), "you": ("⬥ ", "accent"),
    "dropped": ("✗ ", "faint"),
}  # fmt: skip
CRITERIA = {"met": ("✓ ", "good"), "waived": ("✗ ", "faint"), "stale": ("◦ ", "accent")}
SPOKEN = {
    "[note]": ("says", "text"), "[ask]": ("asks", "accent"), "[result]": ("claims", "good"), "[refused]": ("refused", "bad"),
    "[ended]": ("ended", "faint"), "[engine]": ("engine", "faint"),
}  # fmt: skip
LIVE_LINES = 8
HISTORY = 12


def goals_listing(rows: Rows, total: int, width: int, now: int, pending: frozenset[str], *, two: bool) -> Listing:
    """The list of goals; `rows` may be a window."""
    space = (BLANK,) if two else ()

    def row(item: Item, cells: int) -> tuple[Line, ...]:
        return _goal(item, cells, now, item["id"] in pending, two=two)

    head = line(Span("Goals", bold=True), Span(f"  {total}", "soft"), right="N new   / filter")
    return Listing((Section("goals", (BLANK, head, *space), rows, 3 if two else 1, row),))


def no_goals_lines(width: int) -> list[Line]:
    """The empty pane."""
    return [
        BLANK,
        line(Span("No goal yet", bold=True)),
        BLANK,
        *wrapped("A goal is what should get done, and how you will know.", width, "soft"),
        *wrapped("Agents work on its todos; checks prove them.", width, "soft"),
        BLANK,
        line(Span("N", "accent", bold=True), Span(" a new goal", "soft")),
    ]  # fmt: skip


def card_listing(
    card: dict[str, Any], todos: Rows, live: list[str], width: int, now: int, pending: frozenset[str], *, tight: bool
) -> Listing:
    """The card of a goal: criteria, todos and open questions are rows, the rest is read."""
    gap = () if tight else (BLANK,)

    def criterion(item: Item, cells: int) -> tuple[Line, ...]:
        return (_criterion(item),)

    def todo(item: Item, cells: int) -> tuple[Line, ...]:
        return (_todo(item, cells, now, item["id"] in pending),)

    def asked(item: Item, cells: int) -> tuple[Line, ...]:
        return (line(Span("⬥ ", "accent"), Span(" ".join(item["question"].split())), right=item["id"]),)

    counts, criteria = card["counts"], card["criteria"]
    met = sum(item.get("state") in ("met", "waived") for item in criteria)
    sections = [Section(head=(*gap, *_top(card, width, now)))]
    if card["decisions"]:
        head = line(Span("Waits for you", bold=True), Span(f"  {len(card['decisions'])}", "accent", bold=True))
        sections.append(Section("decisions", (*gap, head), Whole(card["decisions"]), 1, asked))
    title = line(
        Span("Criteria", bold=True),
        Span(f"  {met} of {len(criteria)} met", "soft"),
        right=() if criteria else "b adds one",
    )
    sections.append(Section("criteria", (*gap, title), Whole(criteria), 1, criterion))
    proved = f"  {counts['proved']} of {counts['todos']} proved"
    title = line(Span("Todos", bold=True), Span(proved, "soft"), right=() if counts["todos"] else "a adds one")
    running = tuple(_live(card, live, width, now)) if card["live"] else ()
    past = tuple(_history(card, width, now))
    sections.append(
        Section(
            "todos", (*gap, title), todos, 1, todo, (*(gap if running else ()), *running, *(gap if past else ()), *past)
        )
    )
    return Listing(tuple(sections))  # fmt: skip


def _goal(item: Item, width: int, now: int, pending: bool, *, two: bool) -> tuple[Line, ...]:
    word = chip(item["word"], WORDS.get(item["word"], "soft"))
    ago = Span("…", "accent") if pending else Span(calm_age(now - item["since"]), "faint")
    count = Span(f"{item['done']}/{item['todos']}", "soft", cells=8)
    room = max(8, width - 8 - (BAR + 3 if width >= 50 else 0) - 8 - 6)
    bar = (*_bar(item), Span("  ")) if width >= 50 else ()
    first = line(
        word,
        Span("  "),
        Span(item["title"], cells=room, bold=item["word"] == "RUN"),
        Span(" "),
        *bar,
        count,
        right=(ago,),
    )
    if not two:
        return (first,)
    said = item["line"]
    if item.get("due"):
        said = f"{said} {clock(item['due'], now)}"
    return first, line(Span("        "), Span(said, "faint" if item["voice"] == "soft" else item["voice"]))  # fmt: skip


def _bar(item: Item) -> tuple[Span, ...]:
    full = min(BAR, max(0, round(BAR * item["done"] / item["todos"]))) if item["todos"] else 0
    lit = "good" if item["word"] in ("RUN", "DONE") else "soft"
    return Span("━" * full, lit), Span("━" * (BAR - full), "rule")


def _top(card: dict[str, Any], width: int, now: int) -> list[Line]:
    goal = card["goal"]
    first, *more = wrapped(goal["title"], max(10, width - 16), bold=True, most=3)
    lines = [
        Line((*first.left, Span(f"  {goal['id']}", "faint")), (chip(card["word"], WORDS.get(card["word"], "soft")),)),
        *more,
    ]
    lines += wrapped(goal["objective"], width, "soft", most=6) if goal["objective"].strip() else []
    lines.append(BLANK)
    said, voice = _next(card, now)
    lines += hung("next", said, width, voice, cells=7)
    lines += hung("rules", card["rules"], width, cells=7)
    lines += hung("spent", _spent(card), width, cells=7)
    lines += hung("in", f"{card['project']['name']}", width, cells=7) if card["project"]["name"] else []
    return lines


def _next(card: dict[str, Any], now: int) -> tuple[str, str]:
    """Who acts next, in words: a person, whoever works, else what the verdict says."""
    verdict, asked, live = card["verdict"], card["decisions"], card["live"]
    if asked:
        more = f" and {len(asked) - 1} more" if len(asked) > 1 else ""
        return f"you: answer {asked[0]['id']}{more}", "accent"
    if live:
        return f"{live[0]['actor_name']} works on “{live[0]['todo_title'] or live[0]['purpose']}”", "text"
    due = verdict["next_look"]
    later = (
        f" · next look {clock(due, now)}" if verdict["kind"] == "wait" and isinstance(due, int) and due > now else ""
    )
    voice = {"ask": "accent", "error": "bad"}.get(verdict["kind"], "text")
    return f"{verdict['text']}{later}", voice


def _spent(card: dict[str, Any]) -> str:
    goal, spent = card["goal"], card["spent"]
    said = [
        f"{spent['turns']}/{goal['budget_turns']} turns",
        f"{spent['days_ms'] / DAY:.1f}/{goal['budget_days']} days",
    ]
    read, written = spent["input_tokens"], spent["output_tokens"]
    if read is not None or written is not None:
        said.append(f"{tokens((read or 0) + (written or 0))} tokens")
    cost = money(spent["cost"])
    return " · ".join([*said, f"{cost} reported"] if cost else said)


def _criterion(item: Item) -> Line:
    mark, voice = CRITERIA.get(item["state"], ("◦ ", "faint"))
    proof = " ".join(item["argv"]) if item["argv"] else "a person confirms it"
    state = {"met": "met", "waived": "given up", "stale": "stale"}.get(item["state"], "")
    said = f"{proof} · {state}" if state else proof
    return line(Span(mark, voice), Span(item["text"]), right=said)


def _todo(item: Item, width: int, now: int, pending: bool) -> Line:
    mark, voice = MARKS.get(item["mark"], ("◦ ", "faint"))
    quiet = item["mark"] in ("waiting", "dropped")
    who = 18 if width >= 60 else 0
    room = max(8, width - 2 - who - 9)
    beside = item["who"] if item["mark"] in ("running", "proving", "done") else item["note"]
    told = Span(f" {beside}", "accent" if item["mark"] == "you" else "soft", cells=who) if who else Span("")
    end = Span("…", "accent") if pending else Span(item["decision"] or item["receipt"] or item["id"], "faint")
    return line(Span(mark, voice), Span(item["title"], "soft" if quiet else "text", cells=room), told, right=(end,))


def _live(card: dict[str, Any], live: list[str], width: int, now: int) -> list[Line]:
    lines = []
    for turn in card["live"]:
        ran = stopwatch(now - turn["begun_at"])
        said = f"  {turn['actor_name']} · {turn['todo_title'] or turn['purpose']} · {ran}"
        lease = _lease(turn, now)
        lines.append(line(Span("Live", bold=True), Span(said, "soft"), *lease, right=turn["turn"]))
    return [*lines, *transcript_lines(live[-LIVE_LINES:], width)[-LIVE_LINES:]]


def _lease(turn: dict[str, Any], now: int) -> tuple[Span, ...]:
    if not turn["lease_expires"]:
        return ()
    left = max(0, turn["lease_expires"] - now)
    full = min(8, round(8 * left / turn["lease_length_ms"])) if turn["lease_length_ms"] else 0
    return Span("   lease ", "faint"), Span("━" * full, "run"), Span("━" * (8 - full), "rule")


def _history(card: dict[str, Any], width: int, now: int) -> list[Line]:
    if not card["history"]:
        return []
    lines = [line(Span("History", bold=True))]
    for item in card["history"][:HISTORY]:
        told = Span(item["text"], item["voice"] if item["voice"] in ("bad", "accent") else "soft")
        lines.append(line(Span(f"{clock(item['at'], now)}  ", "faint"), told, right=item["receipt"]))
    return lines


def transcript_lines(raw: list[str], width: int) -> list[Line]:
    """What a turn said, asked and was told, with the engine's mark as a label; everything else as the agent printed it."""
    lines: list[Line] = []
    for text in raw:
        label, said, voice = spoken(text)
        lines += hung(label, said, width, voice, cells=9)
    return lines


def spoken(text: str) -> tuple[str, str, str]:
    """A transcript line as (label, text, voice)."""
    for mark, (label, voice) in SPOKEN.items():
        if text.startswith(mark):
            return label, text[len(mark) :].strip(), voice
    return "", text, "soft"
