"""The world that the views are tested with, lived once."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tui.state.records import World, recorded


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Read only: a test that changes something copies it."""
    return recorded(tmp_path_factory.mktemp("world"))


@pytest.fixture
def utc() -> Iterator[None]:
    """This process on UTC, and afterwards on the zone it was in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
