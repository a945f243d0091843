"""Where things are on this machine: the home, the key folder outside it, and folders only this account may enter."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath

from loopx_engine.errors import Refused, TryAgain

APP = "loopx-workspace"
SOCKET_BYTES = 100
DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))}
)


def home(environ: Mapping[str, str]) -> Path:
    """`LOOPX_HOME`, else the platform's data folder: ledger, logs, transcripts and places."""
    given = environ.get("LOOPX_HOME")
    if given:
        return Path(given).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path(APP, appauthor=False)


def key_folder(environ: Mapping[str, str]) -> Path:
    """`LOOPX_KEYS`, else the platform's configuration folder. Refuses (`keys_inside_home`) a folder inside the home."""
    given = environ.get("LOOPX_KEYS")
    if given:
        folder = Path(given).expanduser().absolute()
    else:
        from platformdirs import user_config_path

        folder = user_config_path(APP, appauthor=False) / "keys"
    if folder.resolve().is_relative_to(home(environ).resolve()):
        raise Refused(
            f"the key folder {folder} lies inside LOOPX_HOME",
            code="keys_inside_home",
            next="point LOOPX_KEYS elsewhere",
        )
    return folder


def private_folder(path: Path) -> Path:
    """The folder, made with mode 0700 where it is missing. Raises `TryAgain` (`disk_full`), `Refused` (`no_folder`)."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        if error.errno in (28, 122):
            raise TryAgain(f"no room for {path}", code="disk_full", next="make room and try again") from error
        raise Refused(f"{path} cannot be made: {error.strerror}", code="no_folder", next="set LOOPX_HOME") from error
    return path


def socket_path(folder: Path, name: str) -> Path:
    """A path for a Unix socket, short enough for the kernel; a private temporary folder where the home is too deep."""
    near = folder / "sockets"
    if len(os.fsencode(near / f"{name}.sock")) <= SOCKET_BYTES:
        return private_folder(near) / f"{name}.sock"
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    import hashlib

    short = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    far = private_folder(base / f"loopx-{os.getuid() if hasattr(os, 'getuid') else 0}-{short}")
    if far.is_symlink() or (hasattr(os, "getuid") and far.stat().st_uid != os.getuid()):
        raise Refused(f"{far} belongs to somebody else", code="no_folder", next="set XDG_RUNTIME_DIR")
    return far / f"{name}.sock"


def inside(root: Path, path: Path | str) -> Path:
    """The resolved path, which must lie inside `root`. Refuses (`path_outside`) `..`, links out, absolute, device names."""
    text = str(path)
    refused = Refused(f"{text[:200]!r} lies outside {root}", code="path_outside", next="name a path inside it")
    if "\0" in text or len(os.fsencode(text)) > 4096:
        raise refused
    named = PureWindowsPath(text)
    if any(part.split(".")[0].lower() in DEVICES for part in named.parts) or text.startswith("\\\\"):
        raise refused
    top = root.resolve()
    target = (top / path).resolve()
    if not target.is_relative_to(top):
        raise refused
    return target
