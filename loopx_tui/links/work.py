"""Where calls to the engine run: one thread for reads, one for commands, so that the screen never waits for the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class Work:
    """`read` and `change` run a call in their thread and give back what it came to; errors are raised to the caller."""

    def __init__(self) -> None:
        self._reads = ThreadPoolExecutor(1, "reads")
        self._changes = ThreadPoolExecutor(1, "changes")
        self._scans = ThreadPoolExecutor(1, "scans")
        self._pools = (self._reads, self._changes, self._scans)
        self.in_flight = 0

    async def read(self, call: Callable[..., T], *given: Any) -> T:
        """A read of what is on the screen."""
        return await asyncio.get_running_loop().run_in_executor(self._reads, call, *given)

    async def scan(self, call: Callable[..., T], *given: Any) -> T:
        """A long read, such as a filter over everything; other reads go on beside it."""
        return await asyncio.get_running_loop().run_in_executor(self._scans, call, *given)

    async def change(self, call: Callable[..., T], *given: Any) -> T:
        """A command, one after the other."""
        self.in_flight += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._changes, call, *given)
        finally:
            self.in_flight -= 1

    async def quiet(self) -> None:
        """Until everything that was asked for so far has come back."""
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(pool, _nothing) for pool in self._pools))

    def close(self) -> None:
        """Takes nothing new, drops what is queued, and waits for what runs: only then may a ledger be closed."""
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for pool in self._pools:
            pool.shutdown(wait=True)


def _nothing() -> None:
    return
