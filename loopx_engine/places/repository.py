"""What a git repository is to a project: its root, identity, remotes, branches, and what its worktrees share.

Everything here only reads; credentials in remote URLs never leave this module (MODEL.md 2 and 6).
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from loopx_engine.errors import NotFound, Refused
from loopx_engine.places.git import at_place, git_failed, mask_url, resolve, run_git

_HALF_MADE_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_USUAL_BRANCHES = ("main", "master", "trunk", "develop")


@dataclass(frozen=True, slots=True)
class Repository:
    """`root` is the top of the main work tree (of a bare one its git folder), `git_dir` what all worktrees share.

    `head` is None while nothing is committed, `branch` None while detached, `default_branch` a guess: the remote's
    HEAD, else a usual name, else the current branch. `root_commit` is where the default branch began.
    """

    root: Path
    git_dir: Path
    root_commit: str | None
    remotes: tuple[tuple[str, str], ...]
    head: str | None
    branch: str | None
    default_branch: str
    is_bare: bool
    is_shallow: bool


@dataclass(frozen=True, slots=True)
class Worktree:
    """One line of `git worktree list`; `locked` holds the reason, "" for none given, None when not locked."""

    path: Path
    head: str
    branch: str | None
    bare: bool
    locked: str | None


def find_repository(directory: Path) -> Repository | None:
    """The repository that holds `directory`, or None.

    Raises `NotFound` (`project_missing`) when the directory is gone, `Refused` (`git_failed`) when git will not open
    the repository (another owner, damage).
    """
    if not directory.is_dir():
        raise NotFound(f"{directory} is gone", code="project_missing", next="`loopx project add` where it is now")
    asked = ("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--is-shallow-repository")
    found = run_git(directory, *asked, check=False)
    if found.exit != 0:
        if "not a git repository" in found.err and "dubious ownership" not in found.err:
            return None
        raise git_failed(asked, found)
    own, common, shallow = found.raw.splitlines()[:3]
    git_dir = Path(os.fsdecode(common))
    first = worktrees(directory)[0]
    root = first.path if first.bare or own != common else _top(directory, first.path)
    branch = _branch(root)
    remotes = _remotes(root)
    default = _default_branch(root, branch, remotes)
    return Repository(
        root=root,
        git_dir=git_dir,
        root_commit=_root_commit(root, default, remotes),
        remotes=tuple((name, mask_url(url)) for name, url in remotes),
        head=resolve(root, "HEAD"),
        branch=branch,
        default_branch=default,
        is_bare=first.bare,
        is_shallow=shallow == b"true",
    )


def need_repository(project: Path) -> Repository:
    """`find_repository`, with `Refused` (`no_repository`) in place of None."""
    repository = find_repository(project)
    if repository is None:
        raise Refused(
            f"{project} is not in a git repository",
            code="no_repository",
            next="run `git init` and commit, or choose `--place in-place`",
        )
    return repository


def identity(repository: Repository) -> str:
    """What stays the same when the project is renamed, moved or given a new remote; "" before the first commit.

    A shallow clone does not know its root commit, so it is known by its remotes, else by where it was cut.
    """
    if repository.is_shallow and repository.remotes:
        urls = "\n".join(sorted(url for _, url in repository.remotes))
        return f"remote:{hashlib.sha256(urls.encode('utf-8', 'surrogateescape')).hexdigest()}"
    return f"git:{repository.root_commit}" if repository.root_commit else ""


def protected_refs(repository: Repository) -> tuple[str, ...]:
    """Branches whose push is high risk (MODEL.md 6): the default branch, `main` and `master`."""
    return tuple(dict.fromkeys((repository.default_branch, "main", "master")))


def worktrees(directory: Path) -> tuple[Worktree, ...]:
    """All work trees of the repository, the main one first, those whose folder vanished included."""
    found = []
    for block in _listed(directory).split(b"\n\n"):
        pairs = [line.partition(b" ") for line in block.splitlines()]
        fields = {key.decode(): os.fsdecode(value) for key, _, value in pairs}
        if "worktree" in fields:
            branch = fields.get("branch")
            found.append(
                Worktree(
                    path=Path(fields["worktree"]),
                    head=fields.get("HEAD", ""),
                    branch=branch.removeprefix("refs/heads/") if branch else None,
                    bare="bare" in fields,
                    locked=fields.get("locked"),
                )
            )
    return tuple(found)


def _listed(directory: Path) -> bytes:
    """What git lists. A worktree that somebody is making just now reads as broken for a moment; then it is asked again."""
    argv = ("worktree", "list", "--porcelain")
    for wait_s in (*_HALF_MADE_S, None):
        listed = run_git(directory, *argv, check=False)
        if listed.exit == 0:
            break
        if wait_s is None or "failed to read" not in listed.err:
            raise git_failed(argv, listed)
        time.sleep(wait_s)
    return listed.raw


def shared_state(repository: Repository) -> dict[str, str]:
    """What a worktree shares with its repository and an unsandboxed turn could change: refs, stash, config, hooks.

    Keys are `ref NAME`, `config KEY`, `stash`, `hook NAME`, `info NAME`, `HEAD`; values are digests, never contents.
    """
    state: dict[str, str] = {}
    listed = run_git(repository.root, "for-each-ref", "--format=%(objectname) %(refname)").raw
    for line in listed.splitlines():
        sha, _, ref = line.partition(b" ")
        state[f"ref {os.fsdecode(ref)}"] = sha.decode()
    for file in ("config", "config.worktree"):
        state |= _config_state(repository, file)
    folder = repository.git_dir
    watched = [("stash", folder / "logs" / "refs" / "stash"), ("HEAD", folder / "HEAD")]
    watched += [(f"info {name}", folder / "info" / name) for name in ("attributes", "exclude", "grafts")]
    if (folder / "hooks").is_dir():
        hooks = sorted((folder / "hooks").iterdir())
        watched += [(f"hook {path.name}", path) for path in hooks if path.suffix != ".sample"]
    return state | {key: _digest(path.read_bytes()) for key, path in watched if path.is_file()}


def changes(
    before: Mapping[str, str], after: Mapping[str, str], ignore: Sequence[str] = ("ref refs/loopx/*",)
) -> tuple[str, ...]:
    """One sentence a difference of two `shared_state`s; `ignore` are globs of keys that the engine moved itself."""
    said = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old == new or any(fnmatchcase(key, glob) for glob in ignore):
            continue
        if old is None:
            said.append(f"{key} was added")
        elif new is None:
            said.append(f"{key} was removed")
        else:
            said.append(f"{key} changed" + (f" from {old[:12]} to {new[:12]}" if key.startswith("ref ") else ""))
    return tuple(said)


def unsaved_edits(root: Path) -> tuple[str, ...]:
    """Paths with uncommitted changes in a checkout: staged, unstaged, unmerged and untracked; nothing is written.

    Names that are not UTF-8 carry surrogates, as `os.fsdecode` makes them.
    """
    status = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")
    listed = run_git(root, *status, env=at_place(root)).raw
    return tuple(sorted({os.fsdecode(entry[3:]) for entry in listed.split(b"\0") if entry}))


def _top(directory: Path, otherwise: Path) -> Path:
    shown = run_git(directory, "rev-parse", "--path-format=absolute", "--show-toplevel", check=False)
    return Path(os.fsdecode(shown.raw.rstrip(b"\n"))) if shown.exit == 0 else otherwise


def _branch(root: Path) -> str | None:
    named = run_git(root, "symbolic-ref", "--quiet", "HEAD", check=False)
    return named.out.strip().removeprefix("refs/heads/") if named.exit == 0 else None


def _remotes(root: Path) -> tuple[tuple[str, str], ...]:
    listed = run_git(root, "config", "-z", "--get-regexp", r"^remote\..*\.url$", check=False).raw
    pairs = [os.fsdecode(entry).partition("\n") for entry in listed.split(b"\0") if entry]
    return tuple((key.removeprefix("remote.").removesuffix(".url"), url) for key, _, url in pairs)


def _default_branch(root: Path, branch: str | None, remotes: tuple[tuple[str, str], ...]) -> str:
    for remote in sorted({name for name, _ in remotes}, key=lambda name: (name != "origin", name)):
        named = run_git(root, "symbolic-ref", "--quiet", f"refs/remotes/{remote}/HEAD", check=False)
        if named.exit == 0:
            return named.out.strip().removeprefix(f"refs/remotes/{remote}/")
    present = run_git(root, "for-each-ref", "--format=%(refname)", *(f"refs/heads/{name}" for name in _USUAL_BRANCHES))
    names = {line.removeprefix("refs/heads/") for line in present.out.splitlines()}
    return next((name for name in _USUAL_BRANCHES if name in names), branch or "main")


def _root_commit(root: Path, default: str, remotes: tuple[tuple[str, str], ...]) -> str | None:
    tips = [f"refs/heads/{default}", *(f"refs/remotes/{name}/{default}" for name, _ in remotes), "HEAD"]
    for tip in tips:
        found = run_git(root, "rev-list", "--first-parent", "--max-parents=0", tip, "--", check=False)
        if found.exit == 0 and found.out.strip():
            return found.out.split()[-1]
    return None


def _config_state(repository: Repository, name: str) -> dict[str, str]:
    path = repository.git_dir / name
    if not path.is_file():
        return {}
    listed = run_git(repository.root, "config", "--file", str(path), "--list", "-z", check=False)
    if listed.exit != 0:
        return {f"config {name}": _digest(path.read_bytes())}
    values: dict[str, list[bytes]] = {}
    for entry in listed.raw.split(b"\0"):
        if entry:
            key, _, value = entry.partition(b"\n")
            values.setdefault(mask_url(os.fsdecode(key)), []).append(value)
    return {f"{name.replace('.', ' ')} {key}": _digest(b"\0".join(items)) for key, items in values.items()}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
