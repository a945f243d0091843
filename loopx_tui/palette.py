"""The palette: every action of the table by name, and the goals and themes; what has nothing to act on says so."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider

from loopx_engine import LoopxError
from loopx_tui.actions import TABLED, why_not_for
from loopx_tui.keys import key_for, shown

if TYPE_CHECKING:
    from loopx_tui.app import Workspace

MOST_GOALS = 50


class Actions(Provider):
    """The action table."""

    def _entries(self) -> Iterable[tuple[str, str, str]]:
        app: Workspace = self.app  # type: ignore[assignment]
        subject = app.pane.subject()
        for action in sorted(TABLED, key=lambda action: bool(why_not_for(action, subject))):
            key = key_for(action.id, app.pane.scope)
            why_not = why_not_for(action, subject)
            keys = f"  {shown(app.keys_of(key)[0])}" if key else ""
            yield action.id, f"{key.word if key else action.id}{keys}", why_not or action.help

    async def discover(self) -> Hits:
        for name, title, words in self._entries():
            yield DiscoveryHit(title, partial(self.app.act, name), help=words)  # type: ignore[attr-defined]

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, title, words in self._entries():
            score = max(matcher.match(title), 0.8 * matcher.match(words))
            if score > 0:
                yield Hit(score, matcher.highlight(title), partial(self.app.act, name), help=words)  # type: ignore[attr-defined]


class Goals(Provider):
    """The goals by their titles."""

    async def search(self, query: str) -> Hits:
        app: Workspace = self.app  # type: ignore[assignment]
        desk = app.desk
        if desk is None:
            return
        try:
            page = await app.jobs.scan(lambda: desk.read("goals", here=app.here, offset=0, limit=1000))
        except LoopxError:
            return
        matcher = self.matcher(query)
        found = [(matcher.match(row["title"]), row) for row in page["items"] if "title" in row]
        for score, row in sorted((hit for hit in found if hit[0] > 0), key=lambda hit: -hit[0])[:MOST_GOALS]:
            yield Hit(
                score, matcher.highlight(row["title"]), partial(app.show_goal, row["id"]), help=f"goal {row['id']}"
            )
