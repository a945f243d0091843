"""Command ids: one for each time a person says something, kept over every repeat of it."""

from __future__ import annotations

import secrets


def new_command() -> str:
    """A fresh command id: a double key press with the same one is one receipt."""
    return f"c{secrets.token_hex(8)}"
