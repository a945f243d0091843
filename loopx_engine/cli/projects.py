"""The project a call is about: found from a directory, entered into the ledger on first use."""

from __future__ import annotations

from pathlib import Path

from loopx_engine.cli.caller import caller, here
from loopx_engine.errors import NotFound
from loopx_engine.places.repository import find_repository, identity


def project_here(directory: str | None) -> str:
    """The id of the project of a directory (this one when none is named). Raises `NotFound` (`project_missing`)."""
    start = Path(directory).expanduser() if directory else here()
    if not start.is_dir():
        raise NotFound(f"{start} is no directory", code="project_missing", next="name an existing one with --project")
    repository = find_repository(start)
    root = repository.root if repository else start.resolve()
    arguments = {
        "root": str(root),
        "identity": identity(repository) if repository and repository.root_commit else "",
        "remotes": [list(pair) for pair in repository.remotes] if repository else [],
    }
    return str(caller().run("project add", arguments).answer["project"])
