"""Goals: what is being done, how far it is and who acts next; the card of one with its todos and the live turn."""

from __future__ import annotations

from typing import Any, ClassVar

from loopx_engine import Desk, LoopxError
from loopx_tui.links.pages import WINDOW, Window, window_for
from loopx_tui.panes.base import Pane, Subject, bindings_of
from loopx_tui.state.filtering import kept
from loopx_tui.state.goals import card_listing, goals_listing, no_goals_lines
from loopx_tui.state.listing import NOTHING, Item, Listing, Rows, Whole, document
from loopx_tui.state.needs import no_match_lines

LIVE_KEPT = 400
SCAN = 1000


class GoalsPane(Pane):
    """Both sides are windows over lists of any length."""

    scope = "goals"
    BINDINGS: ClassVar = bindings_of("goals")

    def __init__(self, workspace: Any) -> None:
        super().__init__(workspace)
        self.goals: Rows = NOTHING
        self.todos: Rows = NOTHING
        self.card: dict[str, Any] | None = None
        self.live: list[str] = []
        self._live_of = ("", 0)
        self._goal_offset: int | None = None
        self._todo_offset: int | None = None
        self.wanted = ""

    def request(self) -> dict[str, Any]:
        cursor = self.wanted or self.list.cursor
        return {
            "cursor": cursor,
            "here": self.workspace.here,
            "goal_at": _place(self._goal_offset, cursor, "g-"),
            "todo_at": _place(self._todo_offset, self.detail.cursor, "t-"),
            "query": self.query_terms,
            "card_of": self.card["goal"]["id"] if self.card else "",
        }

    def read(self, desk: Desk, request: dict[str, Any]) -> dict[str, Any]:
        page, cursor = None, request["cursor"]
        if request["whole"]:
            page = self._goals_page(desk, request)
            cursor = cursor if page["at"] is not None or "at" not in request["goal_at"] else ""
        if not cursor:
            items = page["items"] if page else []
            cursor = str(items[0]["id"]) if items else ""
        return {"page": page, **_card(desk, cursor, request)}

    def take(self, data: dict[str, Any]) -> None:
        page = data["page"]
        if page is not None:
            rows = Window(page, self._goal_missing, self.list.cursor)
            self.goals = Whole(page["items"]) if page.get("filtered") else rows
            self._goal_offset = None
            self.list.show(self._list)
            if self.wanted:
                self.list.select(self.wanted)
                self.wanted = ""
        card = data["card"]
        if card is not None and card["goal"]["id"] == self.list.cursor:
            if self.card is None or self.card["goal"]["id"] != card["goal"]["id"]:
                self.live, self._live_of = [], ("", 0)
            self.card = card
            todos, self._todo_offset = data["todos"], None
            self.todos = (
                Whole(todos["items"])
                if todos.get("filtered")
                else Window(todos, self._todo_missing, self.detail.cursor)
            )
        elif not self.list.cursor:
            self.card = None
        self.detail.show(self._detail)
        if self.card is not None:
            self.painted(self.card["goal"]["id"], "")

    def subject(self) -> Subject | None:
        if self.detail.has_focus:
            item = self.detail.item
            found = self.detail.listing.section_of(self.detail.index)
            kind = {"decisions": "decision", "criteria": "criterion", "todos": "todo"}.get(
                found[0].name if found else ""
            )
            if item is not None and kind and "poisoned" not in item:
                return kind, item
        return ("goal", self.card["goal"]) if self.card and self.card["goal"]["id"] == self.list.cursor else None

    @property
    def goal(self) -> Item | None:
        """The goal whose card is shown."""
        return self.card["goal"] if self.card and self.card["goal"]["id"] == self.list.cursor else None

    def moved(self) -> None:
        self._todo_offset = None
        self.detail.cursor = ""
        if self.card is not None and self.card["goal"]["id"] != self.list.cursor:
            self.detail.show(self._detail)

    # -- the live turn ----------------------------------------------------------------------------------------------------

    def live_from(self) -> tuple[str, int] | None:
        """Which transcript is shown and from where it is to be read; None where no turn is live."""
        turns = self.card["live"] if self.card else []
        path = turns[0]["transcript"] if turns else ""
        if not path:
            return None
        return self._live_of if self._live_of[0] == path else (path, -1)

    def take_live(self, path: str, lines: list[str], position: int) -> None:
        """Adds what a turn said since."""
        if self._live_of[0] != path:
            self.live = []
        self._live_of = (path, position)
        if lines:
            self.live = [*self.live, *lines][-LIVE_KEPT:]
            self.detail.rebuild()

    # -- inside -----------------------------------------------------------------------------------------------------------

    def _goals_page(self, desk: Desk, request: dict[str, Any]) -> dict[str, Any]:
        given = {"here": request["here"], "limit": WINDOW}
        if not request["query"]:
            page: dict[str, Any] = desk.read("goals", **given, **request["goal_at"])
            return page
        items = kept(request["query"], _scan(desk, "goals", {"here": request["here"]}))
        at = next((n for n, item in enumerate(items) if item["id"] == request["cursor"]), None)
        return {"items": items, "total": len(items), "offset": 0, "at": at, "filtered": True}

    def _goal_missing(self, index: int) -> None:
        self._goal_offset = window_for(index)
        self.workspace.want()

    def _todo_missing(self, index: int) -> None:
        self._todo_offset = window_for(index)
        self.workspace.want(whole=False)

    def _list(self, width: int) -> Listing:
        if len(self.goals):
            return goals_listing(self.goals, len(self.goals), width, self.now, self.workspace.pending, two=self.roomy)
        if self.query_terms:
            return document(no_match_lines(self.filter_text))
        return document(no_goals_lines(width))

    def _detail(self, width: int) -> Listing:
        if self.card is None or self.goal is None:
            return Listing()
        return card_listing(
            self.card, self.todos, self.live, width, self.now, self.workspace.pending, tight=self.app.size.height < 24
        )


def _place(offset: int | None, cursor: str, prefix: str) -> dict[str, Any]:
    """Which window: the one that was scrolled to, else the one around the cursor."""
    if offset is not None:
        return {"offset": offset}
    return {"at": cursor} if cursor.startswith(prefix) else {}


def _card(desk: Desk, cursor: str, request: dict[str, Any]) -> dict[str, Any]:
    if not cursor:
        return {"card": None, "todos": None}
    at = request["todo_at"] if cursor == request["card_of"] else {}
    try:
        todos = desk.read("todos", goal=cursor, limit=WINDOW, **at)
        return {"card": desk.read("card", goal=cursor), "todos": todos}
    except LoopxError:
        return {"card": None, "todos": None}


def _scan(desk: Desk, name: str, given: dict[str, Any]) -> list[Item]:
    """Every item of a windowed read."""
    found: list[Item] = []
    while True:
        page = desk.read(name, **given, offset=len(found), limit=SCAN)
        found += page["items"]
        if not page["items"] or len(found) >= page["total"]:
            return found
