"""A directory as a project: its root, what its repository is, and where its remotes are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopx_engine.errors import NotFound
from loopx_engine.places.repository import find_repository, identity


def project_arguments(directory: str | Path) -> dict[str, Any]:
    """What `project add` is told about a directory. Raises `NotFound` (`project_missing`)."""
    start = Path(directory).expanduser()
    if not start.is_dir():
        raise NotFound(f"{start} is no directory", code="project_missing", next="name an existing one with --project")
    repository = find_repository(start)
    root = repository.root if repository else start.resolve()
    return {
        "root": str(root),
        "identity": identity(repository) if repository and repository.root_commit else "",
        "remotes": [list(pair) for pair in repository.remotes] if repository else [],
    }
