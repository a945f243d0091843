"""Canonical JSON bytes and their digest: what is hashed and signed (MODEL.md 6).

Sorted keys, no white space, NFC text, no floats; one value has exactly one encoding.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any
from unicodedata import normalize

from loopx_engine.errors import UsageError


def canonical(value: Any) -> bytes:
    """The one encoding of a JSON value. Raises `UsageError` (`not_canonical`) for floats, odd types, lone surrogates."""
    try:
        return json.dumps(
            _plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        ).encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            "the text is not valid Unicode (a lone surrogate)", code="not_canonical", next="send UTF-8 text"
        ) from error


def digest(value: Any) -> str:
    """sha256 of the canonical bytes, 64 hex digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return value if value.isascii() else normalize("NFC", value)
    if isinstance(value, dict):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    raise UsageError(
        f"a {type(value).__name__} has no canonical form", code="not_canonical", next="use text or integers"
    )


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise UsageError("a key must be text", code="not_canonical", next="use text keys")
    return key if key.isascii() else normalize("NFC", key)
