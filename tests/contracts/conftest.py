"""The house of the command line's tests: its answers are what is checked here."""

from __future__ import annotations

from cli.conftest import house

__all__ = ["house"]
