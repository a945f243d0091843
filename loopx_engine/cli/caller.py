"""The caller's side of the engine: the ledger itself, or, inside a turn's box, the turn's socket. One form for both."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from loopx_engine.errors import LoopxError, TryAgain
from loopx_engine.model.record import noun

REPLY_BYTES = 4_000_000


@noun
class Outcome:
    """What a command came to: `receipts` are ids; `reveal` is shown once (tokens)."""

    answer: dict[str, Any]
    receipts: tuple[str, ...] = ()
    reveal: dict[str, str] = field(default_factory=dict)
    replayed: bool = False


class Caller(Protocol):
    """Runs verbs and reads for whoever this process is."""

    def run(
        self, verb: str, arguments: Mapping[str, Any], *, command_id: str = "", proof: dict[str, Any] | None = None
    ) -> Outcome: ...
    def read(self, name: str, **arguments: Any) -> dict[str, Any]: ...


def caller() -> Caller:
    """The caller of this process: `LOOPX_SOCKET` inside a box, else the ledger. One for as long as its names stay."""
    path, token = os.environ.get("LOOPX_SOCKET"), os.environ.get("LOOPX_TOKEN")
    names = (path, token, *(os.environ.get(name) for name in ("LOOPX_HOME", "LOOPX_LEDGER", "LOOPX_KEYS")))
    if names not in _CALLERS:
        _CALLERS.clear()
        if path and token:
            _CALLERS[names] = SocketCaller(path, token)
        else:
            from loopx_engine.cli.local import LocalCaller

            _CALLERS[names] = LocalCaller(os.environ)
    return _CALLERS[names]


_CALLERS: dict[tuple[str | None, ...], Caller] = {}


def forget() -> None:
    """The next call starts anew: for a process that makes several."""
    _CALLERS.clear()


def is_agent() -> bool:
    """Whether this process holds an agent's token: then it is that agent, for every command, and nothing else."""
    return bool(os.environ.get("LOOPX_TOKEN"))


class SocketCaller:
    """A boxed turn's caller: every call goes to the engine through the turn's socket, under the turn's token."""

    def __init__(self, path: str, token: str) -> None:
        self._path = path
        self._token = token

    def run(
        self, verb: str, arguments: Mapping[str, Any], *, command_id: str = "", proof: dict[str, Any] | None = None
    ) -> Outcome:
        import secrets

        said = self._call(
            {
                "call": "run",
                "verb": verb,
                "arguments": dict(arguments),
                "command": command_id or f"c{secrets.token_hex(8)}",
            }
        )
        return Outcome(answer=said["answer"], receipts=tuple(said["receipts"]), replayed=said["replayed"])

    def read(self, name: str, **arguments: Any) -> dict[str, Any]:
        return self._call({"call": "read", "name": name, "arguments": arguments})

    def _call(self, request: dict[str, Any]) -> dict[str, Any]:
        import json
        import socket

        line = json.dumps({**request, "token": self._token}).encode("utf-8", "replace") + b"\n"
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.connect(self._path)
                connection.sendall(line)
                with connection.makefile("rb") as answers:
                    said = json.loads(answers.readline(REPLY_BYTES))
        except (OSError, ValueError) as error:
            raise TryAgain(
                f"the engine does not answer on {self._path}: {error}", code="engine_gone", next="end the turn"
            ) from error
        if "error" in said:
            raise _error(said["error"])
        return dict(said["ok"])


def _error(said: dict[str, Any]) -> LoopxError:
    kinds = {kind.exit_code: kind for kind in LoopxError.__subclasses__()}
    kind = kinds.get(int(said.get("exit", 1)), LoopxError)
    return kind(
        str(said["message"]), code=str(said["code"]), next=str(said.get("next", "")), details=said.get("details")
    )


def here() -> Path:
    """The current directory. Raises `TryAgain` where it is gone."""
    try:
        return Path.cwd()
    except OSError as error:
        raise TryAgain(
            "the current directory is gone", code="no_directory", next="cd to a directory that exists"
        ) from error
