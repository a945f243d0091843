"""The per-turn Unix socket: a boxed turn's tools reach the engine here, never the ledger's files (MODEL.md 6).

One JSON object a line: `{"call": "run", "verb", "arguments", "token", "command"?}` or `{"call": "read", "name",
"arguments", "token"}`; the answer is `{"ok": ...}` or `{"error": {...}}`. Only this turn's token is taken.
"""

from __future__ import annotations

import json
import os
import socketserver
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopx_engine.errors import Fault, LoopxError, Refused, UsageError
from loopx_engine.host.paths import socket_path
from loopx_engine.model.identity import Identity
from loopx_engine.model.turn import Turn

if TYPE_CHECKING:
    from loopx_engine.heartbeat.heart import Heart

REQUEST_BYTES = 256 * 1024
IDLE_S = 900


class TurnSocket:
    """Listens from its making until `close()`; the file is 0600 in a 0700 folder."""

    def __init__(self, heart: Heart, turn: Turn) -> None:
        self.heart = heart
        self.turn = turn
        self.path: Path = socket_path(heart.home, turn.id)
        self.path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            self._server = _Server(self.path, self)
        finally:
            os.umask(before)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name=f"socket {turn.id}", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stops listening and removes the file."""
        self._server.shutdown()
        self._server.server_close()
        self.path.unlink(missing_ok=True)

    def answer(self, line: bytes) -> dict[str, Any]:
        """The answer to one request line; every failure is an error object, never an exception."""
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict):
            return _error(UsageError("a request is one JSON object a line", code="bad_request"))
        try:
            return {"ok": self._call(request)}
        except LoopxError as error:
            return _error(error)
        except (TypeError, ValueError, LookupError) as error:
            return _error(UsageError(f"that cannot be answered: {error}", code="bad_request"))
        except OSError as error:
            return _error(Fault(f"the engine failed: {error}"))

    def _call(self, request: dict[str, Any]) -> Any:
        arguments = request.get("arguments")
        given = dict(arguments) if isinstance(arguments, dict) else {}
        who = self._identify(request)
        if request.get("call") == "run":
            answer = self.heart.engine.run(
                str(request.get("verb", "")), given, who, command_id=str(request.get("command", ""))
            )
            return {
                "answer": answer.answer,
                "receipts": [item.id for item in answer.receipts],
                "replayed": answer.replayed,
            }
        if request.get("call") == "read":
            from loopx_engine.reading import read_as

            return read_as(self.heart.engine, who, str(request.get("name", "")), given)
        raise UsageError("call is run or read", code="bad_request")

    def _identify(self, request: dict[str, Any]) -> Identity:
        token = request.get("token")
        if not isinstance(token, str) or not token:
            raise Refused(
                "a process inside a turn is no person: LOOPX_TOKEN is missing",
                code="inside_turn",
                next="keep LOOPX_TOKEN set",
            )
        who = self.heart.engine.identify(token)
        if who.turn != self.turn.id:
            raise Refused("this socket is for another turn", code="not_your_turn", next="keep LOOPX_TOKEN set")
        return who


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, path: Path, owner: TurnSocket) -> None:
        self.owner = owner
        super().__init__(str(path), _Handler)


class _Handler(socketserver.StreamRequestHandler):
    timeout = IDLE_S
    server: _Server

    def handle(self) -> None:
        while True:
            try:
                line = self.rfile.readline(REQUEST_BYTES + 1)
            except (OSError, ValueError):
                return
            if not line:
                return
            if len(line) > REQUEST_BYTES:
                answer = _error(UsageError(f"a request has at most {REQUEST_BYTES} bytes", code="too_long"))
            else:
                answer = self.server.owner.answer(line)
            try:
                self.wfile.write(json.dumps(answer).encode() + b"\n")
            except OSError:
                return
            if len(line) > REQUEST_BYTES:
                return


def _error(error: LoopxError) -> dict[str, Any]:
    return {
        "error": {
            "code": error.code,
            "message": error.message,
            "next": error.next,
            "exit": error.exit_code,
            "details": error.details,
        }
    }
