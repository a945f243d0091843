"""The story in sentences, made from receipts as they are written: nothing is said that no receipt says."""

from __future__ import annotations

from collections.abc import Callable

from loopx_engine.engine import Engine
from loopx_engine.host.sanitiser import visible
from loopx_engine.reading.telling import sentence_of

PERSON = "the person"


class Teller:
    """Says a line for each receipt that moves the story."""

    def __init__(self, engine: Engine, say: Callable[[str], None]) -> None:
        self.engine = engine
        self.say = say
        self.after = 0

    def tell(self) -> None:
        """Everything that was written since the last time."""
        while batch := self.engine.ledger.receipts(after=self.after):
            with self.engine.read() as reader:
                told = [(receipt.id, sentence_of(reader, receipt, PERSON)[0]) for receipt in batch]
            for name, text in told:
                if text:
                    self.say(f"{name:>6}  {visible(text)}")
            self.after = batch[-1].seq
