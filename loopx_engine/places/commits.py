"""The engine's commits: by plumbing, one a proved todo, onto the goal's branch (MODEL.md 3, Commits).

Work files are never touched, a reference moves only from the value that was read, and repeating an act changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loopx_engine.errors import Refused, UsageError
from loopx_engine.places.git import (
    GitResult,
    at_place,
    check_branch,
    check_commit,
    git_failed,
    is_commit,
    read_git,
    resolve,
    run_git,
)
from loopx_engine.places.tree import temporary_index, write_tree

ENGINE_AUTHOR = ("LoopX", "loopx@localhost")
RECEIPT_TRAILER = "LoopX-Receipt"

_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*): (.*)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


class CommitId(str):
    """A commit's full id; `made` is False when nothing had to be committed or this receipt's commit was there."""

    made: bool

    def __new__(cls, sha: str, made: bool) -> CommitId:
        new = super().__new__(cls, sha)
        new.made = made
        return new


@dataclass(frozen=True, slots=True)
class CommitLine:
    """One commit as a reviewer reads it; `trailers` are those of its last paragraph."""

    sha: str
    subject: str
    trailers: Mapping[str, str]


def commit_tree(
    place: Path,
    tree: str,
    branch: str,
    subject: str,
    trailers: Mapping[str, str],
    author: tuple[str, str],
    at_ms: int,
    *,
    expected: str | None = None,
    base: str | None = None,
) -> CommitId:
    """Commit `tree` to `branch` ("HEAD" for a detached place), then move the place's index, never its files.

    `author` is name and mail, `at_ms` UTC milliseconds. A branch whose head carries the same `LoopX-Receipt` and tree
    already has it; a tree equal to the head's needs no commit. `expected` refuses a branch that somebody else moved,
    `base` is the parent of a branch's first commit. Raises `Refused` (`branch_moved`), `UsageError` (`bad_trailer`).
    """
    env = at_place(place)
    ref = "HEAD" if branch == "HEAD" else f"refs/heads/{check_branch(branch)}"
    message = _message(subject, trailers)
    head = resolve(place, ref, env)
    parent = head or (resolve(place, base or "HEAD", env))
    receipt = trailers.get(RECEIPT_TRAILER)
    if head and receipt and _line(place, head, env).trailers.get(RECEIPT_TRAILER) == receipt:
        if tree_of(place, head, env) != check_commit(tree):
            raise _moved(branch, "its head carries this receipt with other files")
        _move_index(place, ref, tree, env)
        return CommitId(head, made=False)
    if expected is not None and parent != check_commit(expected):
        raise _moved(branch, f"it is at {(parent or 'nothing')[:12]}, not at {expected[:12]}")
    if ref == "HEAD" and _named_head(place, env) is not None:
        raise _moved(branch, "the place is on a branch, not detached")
    if head and tree_of(place, head, env) == check_commit(tree):
        return CommitId(head, made=False)
    sha = new_commit(place, tree, (parent,) if parent else (), message, author, at_ms, env)
    move_ref(place, ref, sha, head, f"loopx: {receipt or subject}", env)
    _move_index(place, ref, tree, env)
    return CommitId(sha, made=True)


def save_wip(
    place: Path, turn: str, *, at_ms: int | None = None, author: tuple[str, str] = ENGINE_AUTHOR, subject: str = ""
) -> str:
    """Save the place's tree, untracked files included, under `refs/loopx/wip/<turn>`; everything else stays as it is.

    A second save of the same turn keeps the first as a parent. Returns the ref. `at_ms` defaults to the time of HEAD.
    """
    ref = f"refs/loopx/wip/{turn}"
    if "/" in turn:
        raise Refused(f"{turn[:60]!r} is not the id of a turn", code="bad_ref", next="give the turn's id")
    check_branch(ref)
    env = at_place(place)
    tree = write_tree(place, max_file_bytes=None)
    old, head = resolve(place, ref, env), resolve(place, "HEAD", env)
    if old and tree_of(place, old, env) == tree:
        return ref
    if at_ms is None:
        at_ms = 1000 * int(run_git(place, "log", "-1", "--format=%ct", head, env=env).out) if head else 0
    message = _message(subject or f"Work of turn {turn} that was not settled", {"LoopX-Turn": turn})
    parents = tuple(parent for parent in (head, old) if parent)
    sha = new_commit(place, tree, parents, message, author, at_ms, env)
    move_ref(place, ref, sha, old, f"loopx: wip {turn}", env)
    return ref


def log(directory: Path, branch: str, base: str | None = None, *, limit: int = 1000) -> list[CommitLine]:
    """The commits of `branch` (a name or a full id) that `base` does not have, newest first, at most `limit`."""
    tip = resolve(directory, branch if is_commit(branch) else f"refs/heads/{check_branch(branch)}")
    if tip is None:
        raise Refused(f"there is no branch {branch}", code="no_branch", next="look at `git branch --list`")
    span = (tip, f"^{check_commit(base)}") if base else (tip,)
    listed = run_git(directory, "log", "-z", "--topo-order", f"--max-count={limit}", "--format=%H%n%B", *span, "--")
    return [_parse(entry) for entry in listed.out.split("\0") if entry.strip()]


def diff_text(place: Path, base: str, limit_bytes: int) -> str:
    """The unified diff from commit `base` to the place's files as they are, untracked ones included.

    At most `limit_bytes` bytes, cut at the end of a line with a last line that says so.
    """
    with temporary_index(place, keep=False, max_file_bytes=None) as env:
        tree = run_git(place, "write-tree", env=env).out.strip()
        return _diff(place, check_commit(base), tree, limit_bytes, env)


def diff_commits(directory: Path, base: str, tip: str, limit_bytes: int) -> str:
    """The unified diff from what `base` and `tip` have in common to `tip`; cut as `diff_text` does."""
    found = run_git(directory, "merge-base", check_commit(base), check_commit(tip), check=False)
    start = found.out.strip() if found.exit == 0 else base
    return _diff(directory, start, tip, limit_bytes, None)


def _diff(directory: Path, base: str, tip: str, limit_bytes: int, env: Mapping[str, str] | None) -> str:
    argv = ("diff-tree", "-r", "-p", "--no-color", "--find-renames", base, tip)
    data, more = read_git(directory, *argv, max_bytes=limit_bytes, env=env)
    text = data.decode("utf-8", "replace")
    return text[: text.rfind("\n") + 1] + f"... cut after {limit_bytes} bytes\n" if more else text


def new_commit(
    directory: Path,
    tree: str,
    parents: tuple[str, ...],
    message: str,
    author: tuple[str, str],
    at_ms: int,
    env: Mapping[str, str] | None = None,
) -> str:
    """Write a commit object, unsigned and unreferenced; equal arguments give the equal id."""
    name, mail = (_CONTROL.sub(" ", part).translate({60: None, 62: None}).strip() for part in author)
    if not name or not mail:
        raise UsageError("an author has a name and a mail address", code="bad_author", next="give both")
    who = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", name), ("EMAIL", mail), ("DATE", f"@{at_ms // 1000} +0000"))
    }
    flags = [part for parent in parents for part in ("-p", check_commit(parent))]
    argv = ("commit-tree", check_commit(tree), *flags, "-F", "-")
    return run_git(directory, *argv, stdin=message.encode(), env=dict(env or {}) | who).out.strip()


def move_ref(
    directory: Path, ref: str, sha: str, old: str | None, reason: str, env: Mapping[str, str] | None = None
) -> None:
    """Move `ref` from `old` (None: it must not exist) to `sha`, or raise `Refused` (`branch_moved`)."""
    argv = ("update-ref", "-m", _CONTROL.sub(" ", reason)[:200], "--", ref, sha, old or "0" * len(sha))
    moved = run_git(directory, *argv, env=env, check=False)
    if moved.exit != 0:
        raise _refused_move(ref, argv, moved)


def _refused_move(ref: str, argv: tuple[str, ...], moved: GitResult) -> Refused:
    if any(sign in moved.err for sign in ("but expected", "already exists", "unable to resolve reference")):
        return _moved(ref.removeprefix("refs/heads/"), "somebody else moved it at the same time")
    return git_failed(argv, moved)


def _moved(branch: str, why: str) -> Refused:
    return Refused(
        f"the branch {branch} is not where it was: {why}",
        code="branch_moved",
        next="look at `git log` of the branch, then let the turn be settled again",
        details={"branch": branch},
    )


def _move_index(place: Path, ref: str, tree: str, env: Mapping[str, str]) -> None:
    """Only the index of a place that is on `ref`; a locked one stays, the next commit mends it."""
    if "GIT_WORK_TREE" not in env or _named_head(place, env) != (None if ref == "HEAD" else ref):
        return
    if run_git(place, "read-tree", "--reset", tree, env=env, check=False).exit == 0:
        run_git(place, "update-index", "-q", "--refresh", env=env, check=False)


def _named_head(place: Path, env: Mapping[str, str]) -> str | None:
    named = run_git(place, "symbolic-ref", "--quiet", "HEAD", env=env, check=False)
    return named.out.strip() if named.exit == 0 else None


def tree_of(place: Path, commit: str, env: Mapping[str, str] | None = None) -> str:
    """The tree of a commit. Raises `Refused` (`bad_commit`, `git_failed`)."""
    known = at_place(place) if env is None else env
    return run_git(place, "rev-parse", "--verify", f"{check_commit(commit)}^{{tree}}", env=known).out.strip()


def _line(place: Path, commit: str, env: Mapping[str, str]) -> CommitLine:
    return _parse(run_git(place, "log", "-1", "--format=%H%n%B", commit, "--", env=env).out)


def _parse(entry: str) -> CommitLine:
    sha, _, body = entry.strip("\n").partition("\n")
    subject, _, rest = body.partition("\n")
    last = rest.strip("\n").rpartition("\n\n")[2].splitlines()
    pairs = [_TRAILER.fullmatch(line) for line in last]
    trailers = {pair[1]: pair[2] for pair in pairs if pair} if all(pairs) else {}
    return CommitLine(sha, subject, trailers)


def _message(subject: str, trailers: Mapping[str, str]) -> str:
    """One line of subject and the trailers; text of agents becomes neither a further line nor a trailer."""
    line = _CONTROL.sub(" ", subject).strip()[:200]
    if not line:
        raise UsageError("a commit needs a subject", code="bad_subject", next="give the todo's title")
    for key, value in trailers.items():
        if not _TRAILER.fullmatch(f"{key}: {value}") or _CONTROL.search(value):
            raise UsageError(f"{key[:40]!r} is not a trailer", code="bad_trailer", next="use one plain line")
    return "\n".join([line, "", *(f"{key}: {value}" for key, value in trailers.items())]).strip() + "\n"
