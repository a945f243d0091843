"""The tree digest of a place: what exactly a check ran on, as one id (MODEL.md 3).

A temporary index takes everything that is not ignored, submodules by commit, symbolic links as links; the place's own
index, files and configuration are never touched, and nothing of them is executed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from loopx_engine.errors import Refused
from loopx_engine.places.git import GitResult, at_place, check_commit, git_failed, run_git

# A new or changed file above this is not work to keep in a history (many hosts refuse it as well).
MAX_FILE_BYTES = 100 * 1024 * 1024


def tree_digest(place: Path, inputs: Sequence[str] = (), *, max_file_bytes: int | None = MAX_FILE_BYTES) -> str:
    """The digest of a place's files: all of them, or those that the globs `inputs` match.

    In git and without inputs it is the id `write_tree` would give, but no object is kept; otherwise a sha256. Raises
    `Refused`: `file_unreadable`, `file_too_large`, `nested_repository`, `place_broken`.
    """
    if not (place / ".git").exists():
        return _digest_of_files(place, inputs, max_file_bytes)
    with temporary_index(place, keep=False, max_file_bytes=max_file_bytes) as env:
        if not inputs:
            return run_git(place, "write-tree", env=env).out.strip()
        listed = run_git(place, "ls-files", "-s", "-z", env=env).raw
    total = hashlib.sha256()
    for entry in listed.split(b"\0"):
        _, _, name = entry.partition(b"\t")
        if name and matches(inputs, os.fsdecode(name)):
            total.update(entry + b"\0")
    return total.hexdigest()


def write_tree(place: Path, *, max_file_bytes: int | None = MAX_FILE_BYTES) -> str:
    """Write the place's files into the repository's objects and return the tree's id. Raises as `tree_digest` does."""
    with temporary_index(place, max_file_bytes=max_file_bytes) as env:
        return run_git(place, "write-tree", env=env).out.strip()


def write_partial_tree(place: Path, base: str, paths: Sequence[str]) -> str:
    """The tree of commit or tree `base` with only `paths` taken from the place's files (a vanished one is removed).

    So a turn's own files leave a checkout in place without the person's other edits.
    """
    with temporary_index(place, start=check_commit(base), only=paths) as env:
        return run_git(place, "write-tree", env=env).out.strip()


def changed_paths(place: Path, old_tree: str, new_tree: str, *, raw: bool = False) -> tuple[str, ...]:
    """Paths that differ between two trees or commits, sorted; as `shown`, or with `raw` as the file system has them."""
    ids = (check_commit(old_tree), check_commit(new_tree))
    listed = run_git(place, "diff-tree", "-r", "-z", "--name-only", "--no-renames", *ids, env=at_place(place)).raw
    names = sorted(os.fsdecode(name) for name in listed.split(b"\0") if name)
    return tuple(names if raw else map(shown, names))


def matches(globs: Iterable[str], path: str) -> bool:
    """Whether a path below the place matches one of the globs.

    Globs are anchored at the top of the place; `*`, `?` and `[...]` stay within one name, `**` is any number of
    folders, and what names a folder takes all that lies below it: `src`, `src/`, `**/*.py`, `docs/*/images`.
    """
    parts = tuple(path.split("/"))
    return any(_fits(tuple(glob.strip("/").removeprefix("./").split("/")), parts) for glob in globs if glob.strip("/"))


def shown(path: str) -> str:
    """A file name as valid text: bytes that are not UTF-8 and control characters become `<xx>`."""
    if path.isprintable():
        return path
    return "".join(_shown_character(character) for character in path)


@contextmanager
def temporary_index(
    place: Path,
    *,
    keep: bool = True,
    start: str | None = None,
    only: Sequence[str] | None = None,
    max_file_bytes: int | None = MAX_FILE_BYTES,
) -> Iterator[dict[str, str]]:
    """The environment of a temporary index that holds the place's files; gone at the end.

    It starts from a copy of the place's index (fast: unchanged files are not read), or from the tree `start`. `only`
    limits what is taken from the files. Without `keep` new objects go to a temporary store and are gone as well.
    """
    env = at_place(place)
    git_dir = Path(env["GIT_DIR"])
    folder = git_dir if os.access(git_dir, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="loopx-index-", dir=folder, ignore_cleanup_errors=True) as scratch:
        index = Path(scratch, "index")
        if not keep:
            env |= _quarantine(place, env, Path(scratch, "objects"))
        if start is None:
            _copy_index(git_dir / "index", index)
        env["GIT_INDEX_FILE"] = str(index)
        _trust_no_flags(place, env, index, start)
        names = [os.fsencode(name) for name in only] if only is not None else _changed_names(place, env)
        _take(place, env, names, max_file_bytes)
        yield env


def _quarantine(place: Path, env: Mapping[str, str], objects: Path) -> dict[str, str]:
    asked = run_git(place, "rev-parse", "--path-format=absolute", "--git-path", "objects", env=env).raw
    (objects / "info").mkdir(parents=True)
    (objects / "info" / "alternates").write_bytes(asked)
    return {"GIT_OBJECT_DIRECTORY": str(objects)}


def _copy_index(real: Path, copy: Path) -> None:
    try:
        shutil.copyfile(real, copy)
    except FileNotFoundError:
        return
    # An entry as young as the index itself is read again; the copy must look no younger than its original.
    shutil.copystat(real, copy)


def _trust_no_flags(place: Path, env: Mapping[str, str], index: Path, start: str | None) -> None:
    """Clear assume-unchanged and, where the file is there, skip-worktree: they would hide edits from the digest."""
    if not index.exists():
        if start or run_git(place, "rev-parse", "--verify", "--quiet", "HEAD", env=env, check=False).exit == 0:
            run_git(place, "read-tree", start or "HEAD", env=env)
        return
    entries = [entry for entry in run_git(place, "ls-files", "-v", "-z", env=env).raw.split(b"\0") if entry]
    if any(entry.startswith((b"M", b"m")) for entry in entries):
        index.unlink()
        _trust_no_flags(place, env, index, start)
        return
    assumed = [entry[2:] for entry in entries if entry[:1].islower()]
    skipped = [entry[2:] for entry in entries if entry[:1] in b"Ss" and os.path.lexists(_at(place, entry[2:]))]
    for flag, names in (("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)):
        if names:
            run_git(place, "update-index", flag, "-z", "--stdin", stdin=b"\0".join(names) + b"\0", env=env)


def _changed_names(place: Path, env: Mapping[str, str]) -> list[bytes]:
    listing = ("ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard")
    listed = run_git(place, *listing, env=env)
    if "could not open directory" in listed.err:
        raise _unreadable(listed.err.strip().splitlines()[-1])
    return list(dict.fromkeys(name for name in listed.raw.split(b"\0") if name))


def _take(place: Path, env: Mapping[str, str], names: list[bytes], max_file_bytes: int | None) -> None:
    taken: list[bytes] = []
    links = set()
    for name in names:
        mode, size = _look(_at(place, name.rstrip(b"/")))
        if name.endswith(b"/") and not _has_commit(place, name):
            raise Refused(
                f"{shown(os.fsdecode(name))} is a git repository without a commit, so its files cannot be recorded",
                code="nested_repository",
                next="commit in it, remove its .git, or add it to .gitignore",
            )
        if stat.S_ISLNK(mode):
            links.add(name)
        if stat.S_ISREG(mode) and max_file_bytes is not None and size > max_file_bytes:
            raise _too_large(os.fsdecode(name), size, max_file_bytes)
        # What became a folder leaves the index before its files enter it.
        taken.insert(0 if stat.S_ISDIR(mode) else len(taken), name.rstrip(b"/"))
    # Below a folder that became a link nothing is ours; taking the link removes what the index had there.
    taken = [name for name in taken if not any(parent in links for parent in _parents(name))] if links else taken
    if not taken:
        return
    update = ("update-index", "--add", "--remove", "--replace", "--ignore-skip-worktree-entries", "-z", "--stdin")
    done = run_git(place, *update, stdin=b"\0".join(taken) + b"\0", env=env, check=False, timeout_s=600)
    if done.exit != 0:
        raise _update_failed(update, done)


def _update_failed(argv: tuple[str, ...], done: GitResult) -> Refused:
    if "unable to index file" in done.err or "Permission denied" in done.err:
        return _unreadable(done.err.strip().splitlines()[0])
    return git_failed(argv, done)


def _digest_of_files(place: Path, inputs: Sequence[str], max_file_bytes: int | None) -> str:
    total = hashlib.sha256()
    for name in sorted(_files(place, _raise_unreadable)):
        if inputs and not matches(inputs, os.fsdecode(name)):
            continue
        path = _at(place, name)
        mode, size = _look(path)
        if stat.S_ISLNK(mode):
            content = b"link " + hashlib.sha256(os.readlink(path)).hexdigest().encode()
        elif stat.S_ISREG(mode):
            if max_file_bytes is not None and size > max_file_bytes:
                raise _too_large(os.fsdecode(name), size, max_file_bytes)
            content = b"file " + _sha256(path).encode()
        else:
            continue
        total.update(content + b"\t" + name + b"\0")
    return total.hexdigest()


def _files(place: Path, onerror: Callable[[OSError], None]) -> Iterator[bytes]:
    top = os.fsencode(place)
    for folder, folders, files in os.walk(top, onerror=onerror):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in files + links:
            yield os.path.relpath(os.path.join(folder, name), top)


def _sha256(path: bytes) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(f"{os.fsdecode(path)}: {error.strerror}") from error


@lru_cache(maxsize=4096)
def _fits(glob: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    if not glob:
        return True
    if glob[0] == "**":
        rest = glob[1:]
        return (not rest and bool(parts)) or any(_fits(rest, parts[skip:]) for skip in range(len(parts)))
    return bool(parts) and fnmatchcase(parts[0], glob[0]) and _fits(glob[1:], parts[1:])


def _shown_character(character: str) -> str:
    if character.isprintable():
        return character
    try:
        return "".join(f"<{byte:02x}>" for byte in character.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return f"<{ord(character):x}>"


def _at(place: Path, name: bytes) -> bytes:
    return os.path.join(os.fsencode(place), name)


def _look(path: bytes) -> tuple[int, int]:
    """Mode and size without following links; 0 for what is gone."""
    try:
        found = os.lstat(path)
    except OSError:
        return 0, 0
    return found.st_mode, found.st_size


def _has_commit(place: Path, name: bytes) -> bool:
    """A plain look into a nested repository: running git in it would read its configuration."""
    git_dir = Path(os.fsdecode(_at(place, name)), ".git")
    if git_dir.is_file():
        git_dir = git_dir.parent / os.fsdecode(git_dir.read_bytes()[:4096]).removeprefix("gitdir: ").strip()
    try:
        head = (git_dir / "HEAD").read_bytes()[:4096].decode("utf-8", "replace").strip()
    except OSError:
        return False
    if not head.startswith("ref: "):
        return True
    ref = head.removeprefix("ref: ")
    packed = git_dir / "packed-refs"
    return (git_dir / ref).is_file() or (packed.is_file() and f" {ref}\n".encode() in packed.read_bytes())


def _parents(name: bytes) -> Iterator[bytes]:
    while b"/" in name:
        name = name.rpartition(b"/")[0]
        yield name


def _raise_unreadable(error: OSError) -> None:
    raise _unreadable(f"{os.fsdecode(error.filename)}: {error.strerror}") from error


def _unreadable(what: str) -> Refused:
    return Refused(
        f"a file cannot be read: {shown(what)[:300]}",
        code="file_unreadable",
        next="give it back its read permission, or add it to .gitignore",
    )


def _too_large(name: str, size: int, limit: int) -> Refused:
    return Refused(
        f"{shown(name)} has {size} bytes, more than the {limit} that are recorded",
        code="file_too_large",
        next="add it to .gitignore, or remove it",
        details={"path": shown(name), "bytes": size},
    )
