"""Tokens: 256 random bits each, kept as a hash. `lxa_` is an agent's, `lxt_` one turn's."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from loopx_engine.errors import Refused

PREFIX = {"actor": "lxa_", "turn": "lxt_"}
LENGTH = 43


def new_token(kind: str) -> tuple[str, str]:
    """A new token and its hash."""
    token = PREFIX[kind] + secrets.token_urlsafe(32)
    return token, token_hash(token)


def token_hash(token: str) -> str:
    """The hash a token is stored and found by. Refuses (`bad_token`) what does not look like one."""
    body = token[4:]
    letters = body.replace("-", "a").replace("_", "a")
    if token[:4] not in PREFIX.values() or len(body) != LENGTH or not (letters.isascii() and letters.isalnum()):
        raise Refused("LOOPX_TOKEN is no token", code="bad_token", next="use the token that was printed once")
    return hashlib.sha256(token.encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two hashes are equal, in constant time."""
    return hmac.compare_digest(one, other)
