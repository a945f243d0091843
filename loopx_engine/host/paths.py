"""Where things are on this machine: the home, the key folder outside it, and folders only this account may enter."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath

from loopx_engine.errors import Refused, TryAgain

APP = "loopx-workspace"
SOCKET_BYTES = 100
PATH_BYTES = 4096
DEVICES = frozenset(
    {
        "con",
        "prn",
        "aux",
        "nul",
        "conin$",
        "conout$",
        *(f"{port}{n}" for port in ("com", "lpt") for n in "123456789¹²³"),
    }
)


def home(environ: Mapping[str, str]) -> Path:
    """`LOOPX_HOME`, else the platform's data folder: ledger, logs, transcripts and places."""
    given = environ.get("LOOPX_HOME")
    if given:
        return _given("LOOPX_HOME", given)
    from platformdirs import user_data_path

    return user_data_path(APP, appauthor=False)


def key_folder(environ: Mapping[str, str]) -> Path:
    """`LOOPX_KEYS`, else the platform's configuration folder. Refuses (`keys_inside_home`) a folder inside the home."""
    given = environ.get("LOOPX_KEYS")
    if given:
        folder = _given("LOOPX_KEYS", given)
    else:
        from platformdirs import user_config_path

        folder = user_config_path(APP, appauthor=False) / "keys"
    if _resolved(folder).is_relative_to(_resolved(home(environ))):
        raise Refused(
            f"the key folder {folder} lies inside LOOPX_HOME",
            code="keys_inside_home",
            next="point LOOPX_KEYS elsewhere",
        )
    return folder


def ledger_path(environ: Mapping[str, str]) -> str:
    """`LOOPX_LEDGER` (a path or a URL), else the file in the home."""
    return environ.get("LOOPX_LEDGER") or str(home(environ) / "ledger.db")


def logs(home_folder: Path) -> Path:
    """The folder of the engine's log, made where it is missing; raises as `private_folder`."""
    return private_folder(home_folder / "logs")


def transcripts(home_folder: Path) -> Path:
    """The folder of the turns' transcripts, made where it is missing; raises as `private_folder`."""
    return private_folder(home_folder / "transcripts")


def places(home_folder: Path) -> Path:
    """The folder of worktrees and clones, made where it is missing; raises as `private_folder`."""
    return private_folder(home_folder / "places")


def private_folder(path: Path) -> Path:
    """The folder; it and what is missing above it are made with mode 0700. What exists is left as it is.

    Raises `TryAgain` (`disk_full`), `Refused` (`no_folder`).
    """
    try:
        missing = [path, *path.parents][: _depth_missing(path)]
        for folder in reversed(missing):
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
        if not path.is_dir():
            raise NotADirectoryError(0, "something else has this name")
    except OSError as error:
        from loopx_engine.host.files import NO_ROOM

        if error.errno in NO_ROOM:
            raise TryAgain(f"no room for {path}", code="disk_full", next="make room and try again") from error
        raise Refused(f"{path} cannot be made: {error.strerror}", code="no_folder", next="set LOOPX_HOME") from error
    return path


def socket_path(folder: Path, name: str) -> Path:
    """A path for a Unix socket, short enough for the kernel; a private temporary folder where the home is too deep."""
    import tempfile

    near = folder / "sockets"
    if len(os.fsencode(near / f"{name}.sock")) <= SOCKET_BYTES:
        return private_folder(near) / f"{name}.sock"
    import hashlib

    short = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    named = f"loopx-{os.getuid() if hasattr(os, 'getuid') else 0}-{short}"
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
        far = Path(base or tempfile.gettempdir()) / named / f"{name}.sock"
        if len(os.fsencode(far)) <= SOCKET_BYTES:
            with contextlib.suppress(Refused):
                _own(private_folder(far.parent))
                return far
    raise Refused("no short folder of our own for a socket", code="no_folder", next="set XDG_RUNTIME_DIR")


def inside(root: Path, path: Path | str) -> Path:
    """The resolved path, which must lie inside `root`. Refuses (`path_outside`) `..`, links out, absolute, device names.

    An absolute path inside `root` is taken. The answer holds for this moment; a link may be changed afterwards.
    """
    text = str(path)
    refused = Refused(f"{text[:200]!r} lies outside {root}", code="path_outside", next="name a path inside it")
    if "\0" in text or text.startswith(("\\\\", "//")) or len(text.encode("utf-8", "surrogatepass")) > PATH_BYTES:
        raise refused
    top = root.resolve()
    below = text.removeprefix(str(root)) if Path(text).is_absolute() else text
    if any(_device(part) for part in PureWindowsPath(below).parts):
        raise refused
    try:
        target = (top / path).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise refused from error
    if not target.is_relative_to(top):
        raise refused
    return target


def _given(name: str, value: str) -> Path:
    try:
        if "\0" in value:
            raise ValueError("NUL")
        return Path(value).expanduser().absolute()
    except (RuntimeError, ValueError) as error:
        raise Refused(f"{name} is no path: {value!r}", code="bad_path", next=f"set {name} to a folder") from error


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise Refused(f"{path} leads in a circle", code="bad_path", next="name another folder") from error


def _depth_missing(path: Path) -> int:
    return next((n for n, folder in enumerate([path, *path.parents]) if os.path.lexists(folder)), 0)


def _device(part: str) -> bool:
    return part.split(".")[0].split(":")[0].rstrip(" ").lower() in DEVICES


def _own(folder: Path) -> None:
    """Refuses a folder in a shared place that is a link, somebody else's or open to others."""
    found = folder.lstat()
    foreign = hasattr(os, "getuid") and (found.st_uid != os.getuid() or bool(stat.S_IMODE(found.st_mode) & 0o077))
    if foreign or not stat.S_ISDIR(found.st_mode):
        raise Refused(f"{folder} belongs to somebody else", code="no_folder", next="set XDG_RUNTIME_DIR")
