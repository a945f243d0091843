"""Tokens: 256 random bits each, kept as a hash. `lxa_` is an agent's, `lxt_` one turn's."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Literal

from loopx_engine.errors import Refused

TokenKind = Literal["actor", "turn"]
PREFIX: dict[TokenKind, str] = {"actor": "lxa_", "turn": "lxt_"}
SHAPE = re.compile(r"lx[at]_[A-Za-z0-9_-]{43}")


def new_token(kind: TokenKind) -> tuple[str, str]:
    """A new token and its hash."""
    token = PREFIX[kind] + secrets.token_urlsafe(32)
    return token, token_hash(token)


def token_hash(token: str) -> str:
    """The hash a token is stored and found by. Refuses (`bad_token`) what does not look like one."""
    if not SHAPE.fullmatch(token):
        raise Refused("LOOPX_TOKEN is no token", code="bad_token", next="use the token that was printed once")
    return hashlib.sha256(token.encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two hashes are equal, in constant time."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))
