"""The published JSON schemas of everything that crosses over, by name."""

from __future__ import annotations

from typing import Any

from loopx_engine.contracts.cli_json import model_of, shapes
from loopx_engine.contracts.command_protocol import TO_AGENT, TO_ENGINE

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema_names() -> list[str]:
    """Every name that `schema_of` knows."""
    return sorted([*shapes(), *(f"command.{name}" for name in (*TO_AGENT, *TO_ENGINE))])


def schema_of(name: str) -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of `loopx.NAME/1`, or of a line of the `command` protocol (`command.NAME`).

    Raises `NotFound` (`no_schema`).
    """
    line = {**TO_AGENT, **TO_ENGINE}.get(name.removeprefix("command.")) if name.startswith("command.") else None
    model = line or model_of(name)
    return {"$schema": DRAFT, **model.model_json_schema(by_alias=True, mode="validation")}
