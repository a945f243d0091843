"""Needs you: what only a person may answer, and what needs recovery. The first decision is on screen without a key."""

from __future__ import annotations

from typing import Any, ClassVar

from loopx_engine import Desk, LoopxError
from loopx_tui.panes.base import Pane, Subject, bindings_of
from loopx_tui.state.decision import decision_lines
from loopx_tui.state.difference import Difference, difference
from loopx_tui.state.lines import BLANK
from loopx_tui.state.listing import Listing, document
from loopx_tui.state.needs import finding_document, needs_listing, no_match_lines, nothing_lines

MOST = 1000
EMPTY: dict[str, Any] = {"items": [], "findings": [], "answered": [], "total": 0}


class NeedsPane(Pane):
    """Decisions in the order of what they block, findings, and what was answered today."""

    scope = "needs"
    BINDINGS: ClassVar = bindings_of("needs")

    def __init__(self, workspace: Any) -> None:
        super().__init__(workspace)
        self.data = EMPTY
        self.answer: dict[str, Any] | None = None
        self.differences: dict[tuple[str, str], Difference] = {}

    def request(self) -> dict[str, Any]:
        return {"cursor": self.list.cursor, "here": self.workspace.here}

    def read(self, desk: Desk, request: dict[str, Any]) -> dict[str, Any]:
        found = desk.read("inbox", here=request["here"], limit=MOST) if request["whole"] else None
        data = found or self.data
        wanted = request["cursor"] or (data["items"][0]["id"] if data["items"] else "")
        return {"inbox": found, "answer": read_decision(desk, wanted)}

    def take(self, data: dict[str, Any]) -> None:
        if data["inbox"] is not None:
            self.data = data["inbox"]
            self.list.show(self._list)
        if data["answer"] is not None:
            self.answer = data["answer"]
        self.detail.show(self._detail)
        self._note_painted()

    def subject(self) -> Subject | None:
        item = self.list.item
        if item is None or "poisoned" in item:
            return None
        return ("decision", item) if "question" in item else ("finding", item)

    def shown(self) -> dict[str, Any] | None:
        """The decision that is shown whole, where it is the one under the cursor."""
        answer = self.answer
        return answer if answer is not None and answer["item"]["id"] == self.list.cursor else None

    def take_difference(self, name: str, basis: str, found: dict[str, Any]) -> None:
        """Shows the difference of a decision once it is read."""
        self.differences[name, basis] = difference(found["text"], why_not=found["why_not"])
        self.detail.show(self._detail)

    def missing_difference(self) -> tuple[str, str] | None:
        """The decision on screen whose difference was not read yet."""
        answer = self.shown()
        if answer is None or answer["item"]["state"] != "open":
            return None
        name = (answer["item"]["id"], answer["item"]["basis"])
        return None if name in self.differences else name

    def _list(self, width: int) -> Listing:
        two = self.roomy
        found = needs_listing(self.data, width, self.now, self.query_terms, self.workspace.pending, two=two)
        if found.rows:
            return found
        if self.query_terms:
            return document(no_match_lines(self.filter_text))
        return document([*nothing_lines(width, self.workspace.standing.engine is not False), *_answered(found)])

    def _detail(self, width: int) -> Listing:
        item = self.list.item
        if item is None or "poisoned" in item:
            return Listing()
        if "question" not in item:
            return finding_document(item, width, self.now)
        answer = self.shown()
        if answer is None:
            return Listing()
        known = self.differences.get((answer["item"]["id"], answer["item"]["basis"]))
        space = [BLANK] if self.roomy else []
        return document([*space, *decision_lines(answer, width, self.now, known, tight=not self.roomy)])

    def _note_painted(self) -> None:
        answer = self.shown()
        if answer is not None:
            self.painted(answer["item"]["id"], answer["item"]["basis"])

    def moved(self) -> None:
        self.detail.show(self._detail)


def read_decision(desk: Desk, name: str) -> dict[str, Any] | None:
    """The decision with this id, whole; None where it is none or cannot be read."""
    if not name.startswith("d-"):
        return None
    try:
        answer: dict[str, Any] = desk.read("decision", id=name)
    except LoopxError:
        return None
    return answer


def _answered(listing: Listing) -> list[Any]:
    """What was answered today still stands below an empty list."""
    return [line for section in listing.sections if not section.name for line in section.head]
