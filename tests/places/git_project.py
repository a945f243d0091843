"""A real git project for tests, driven as a person drives git: no protection, the repository's own configuration."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest


def require_git() -> None:
    """Skip where git is absent, unless everything is required."""
    if shutil.which("git") is None:
        if os.environ.get("LOOPX_REQUIRE_ALL") == "1":
            pytest.fail("git is required")
        pytest.skip("git is not installed")


class GitProject:
    """A repository on branch `main` in `root`, with one commit of `README` and `src/app.py`."""

    def __init__(self, root: Path, home: Path, *, empty: bool = False, bare: bool = False) -> None:
        require_git()
        self.root, self.home = root, home
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", *(["--bare"] if bare else []))
        if not empty and not bare:
            self.write("README", "hello\n")
            self.write("src/app.py", "print(1)\n")
            self.commit("begin")

    def git(self, *argv: str, at: Path | None = None, check: bool = True) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            **{f"GIT_{role}_NAME": "Ada" for role in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{role}_EMAIL": "ada@example.org" for role in ("AUTHOR", "COMMITTER")},
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "protocol.file.allow",
            "GIT_CONFIG_VALUE_0": "always",
        }
        done = subprocess.run(["git", *argv], cwd=at or self.root, env=environment, capture_output=True, check=False)
        assert done.returncode == 0 or not check, done.stderr.decode()
        return done.stdout.decode("utf-8", "replace").strip()

    def write(self, name: str, text: str, at: Path | None = None) -> Path:
        path = (at or self.root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, subject: str, at: Path | None = None) -> str:
        self.git("add", "-A", at=at)
        self.git("commit", "-q", "--allow-empty", "-m", subject, at=at)
        return self.git("rev-parse", "HEAD", at=at)

    def head(self, ref: str = "HEAD", at: Path | None = None) -> str:
        return self.git("rev-parse", "--verify", ref, at=at)


def photograph(root: Path) -> dict[str, str]:
    """Every file of a checkout with its bytes, mode and change time, and git's index: what must stay as it is."""
    seen = {}
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if inside.parts[0] == ".git" and str(inside) not in (".git/index", ".git/HEAD", ".git/config"):
            continue
        found = path.lstat()
        content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        clock = found.st_mtime_ns if path.is_file() else 0
        seen[str(inside)] = f"{found.st_mode:o} {clock} {hashlib.sha256(content).hexdigest()}"
    return seen


def plant_traps(project: GitProject, canary: Path) -> None:
    """Everything in a repository that git would execute: hooks, fsmonitor, filters, drivers, signing. Each touches `canary`."""
    trap = project.root.parent / "trap"
    trap.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{canary}'\ncat\n", encoding="utf-8")
    trap.chmod(0o755)
    names = ("pre-commit", "post-checkout", "post-commit", "post-merge", "pre-push", "reference-transaction")
    for name in (*names, "post-index-change", "pre-auto-gc", "fsmonitor-watchman"):
        hook = project.root / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> '{canary}'\n", encoding="utf-8")
        hook.chmod(0o755)
    settings = {
        "core.fsmonitor": str(trap),
        "core.sshCommand": str(trap),
        "core.pager": str(trap),
        "core.editor": str(trap),
        "core.askPass": str(trap),
        "core.alternateRefsCommand": str(trap),
        "diff.external": str(trap),
        "diff.evil.command": str(trap),
        "diff.evil.textconv": str(trap),
        "filter.evil.clean": str(trap),
        "filter.evil.smudge": str(trap),
        "filter.evil.required": "true",
        "filter.a=b.process": str(trap),
        "merge.evil.driver": str(trap),
        "merge.default": "evil",
        "gpg.program": str(trap),
        "commit.gpgSign": "true",
        "push.gpgSign": "if-asked",
        "log.showSignature": "true",
        "remote.origin.receivepack": str(trap),
        "remote.origin.uploadpack": str(trap),
        "protocol.ext.allow": "always",
    }
    for key, value in settings.items():
        project.git("config", key, value)
    attributes = project.root / ".git" / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text("*.py filter=evil diff=evil merge=evil\n*.md filter=a=b\n", encoding="utf-8")
