"""The project a call is about: found from a directory, entered into the ledger on first use."""

from __future__ import annotations

from typing import Any

from loopx_engine.cli.caller import caller, here
from loopx_engine.desk.projects import project_arguments as arguments_of_directory


def project_here(directory: str | None, *, enter: bool = True) -> str:
    """The id of the project of a directory (this one when none is named), entered or found again where it moved.

    Empty where it is not known and `enter` is False. Raises `NotFound` (`project_missing`).
    """
    arguments = project_arguments(directory)
    known = _known(arguments)
    if known is not None and known["root"] == arguments["root"] and _same(known, arguments):
        return str(known["id"])
    if not enter:
        return str(known["id"]) if known else ""
    return str(caller().run("project add", arguments).answer["project"])


def project_arguments(directory: str | None) -> dict[str, Any]:
    """What `project add` is told about a directory, or about this one."""
    return arguments_of_directory(directory or here())


def _known(arguments: dict[str, Any]) -> dict[str, Any] | None:
    projects = caller().read("list", noun="project", limit=1000)["items"]
    by_root = next((item for item in projects if item["root"] == arguments["root"]), None)
    if by_root is not None:
        return dict(by_root)
    identified = (item for item in projects if arguments["identity"] and item["identity"] == arguments["identity"])
    found = next(identified, None)
    return dict(found) if found else None


def _same(known: dict[str, Any], arguments: dict[str, Any]) -> bool:
    return bool(known["remotes"] == arguments["remotes"] and known["identity"] == arguments["identity"])
