"""Redaction: secrets are masked before anything is digested, stored or sent. Known shapes, known values, and loud entropy.

Git ids, UUIDs and digests survive. The same text redacted twice is the same text.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

SECRET_NAMES = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL")
LEAST_VALUE = 8
ENTROPY_LENGTH = 32
ENTROPY_BITS = 4.3
PUBLIC_KEYS = ("AAAAC3NzaC1", "AAAAB3NzaC1", "AAAAE2VjZHNh")
HINTS = (
    "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "sk-", "AIza", "eyJ", "-----BEGIN",
    "npm_", "pypi-", "lxa_", "lxt_", "://", "hf_",
)  # fmt: skip
WORDS = ("bearer", "basic ", "password", "passwd", "secret", "token", "api_key", "apikey", "api-key", "access_key")
PATTERNS: tuple[tuple[str, str], ...] = (
    ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ("aws key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("github token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{40,255})"),
    ("gitlab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("slack token", r"\bxox[abposr]-[A-Za-z0-9-]{10,}"),
    ("api key", r"\bsk-[A-Za-z0-9_-]{20,}"),
    ("google key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("pypi token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
    ("hub token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("loopx token", r"\blx[at]_[A-Za-z0-9_-]{40,}"),
)
CREDENTIALS = r"(?P<kept>\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\[\]]{1,100}:)(?P<secret>[^\s/@\[\]]{1,200})(?=@)"
HEADER = r"(?i)(?P<kept>\b(?:authorization\s*[:=]\s*)?(?:bearer|basic)\s+)(?P<secret>[A-Za-z0-9._~+/=-]{16,})"
ASSIGNED = (
    r"(?i)(?P<kept>\b[A-Za-z0-9_-]{0,40}(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)[\"']?\s{0,3}[:=]\s{0,3}[\"']?)"
    r"(?P<secret>(?!\[redacted )[^\s\"'\[\]{},;]{8,200})"
)
RUN = r"[A-Za-z0-9+/_=-]{32,256}"


def redact(text: str, known: Collection[str] = ()) -> str:
    """The text with secrets as `[redacted KIND]`. `known` are exact values to mask as well."""
    for value in known:
        if value and value in text:
            text = text.replace(value, "[redacted value]")
    if len(text) < LEAST_VALUE or not _worth(text):
        return text
    for kind, pattern in _compiled():
        text = pattern.sub(f"[redacted {kind}]", text)
    for kind, pattern in _kept():
        text = pattern.sub(rf"\g<kept>[redacted {kind}]", text)
    return str(_run().sub(_loud, text))


def redact_value(value: Any, known: Collection[str] = ()) -> Any:
    """A JSON value with every text in it redacted; keys stay."""
    if isinstance(value, str):
        return redact(value, known)
    if isinstance(value, dict):
        return {key: redact_value(item, known) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(redact_value(item, known) for item in value)
    return value


def secret_values(environ: Mapping[str, str]) -> frozenset[str]:
    """The values of variables whose names say that they are secret."""
    return frozenset(
        value
        for name, value in environ.items()
        if len(value) >= LEAST_VALUE and any(word in name.upper() for word in SECRET_NAMES) and not name.endswith("_FD")
    )


def _worth(text: str) -> bool:
    if any(hint in text for hint in HINTS):
        return True
    lowered = text.lower()
    return any(word in lowered for word in WORDS) or (
        len(text) >= ENTROPY_LENGTH and any(len(word) >= ENTROPY_LENGTH for word in text.split())
    )


@lru_cache(maxsize=1)
def _compiled() -> tuple[tuple[str, Any], ...]:
    import re

    return tuple((kind, re.compile(pattern, re.DOTALL)) for kind, pattern in PATTERNS)


@lru_cache(maxsize=1)
def _kept() -> tuple[tuple[str, Any], ...]:
    import re

    return (
        ("password", re.compile(CREDENTIALS)),
        ("credential", re.compile(HEADER)),
        ("secret", re.compile(ASSIGNED)),
    )


@lru_cache(maxsize=1)
def _run() -> Any:
    import re

    return re.compile(RUN)


def _loud(match: Any) -> str:
    word = match[0]
    return "[redacted entropy]" if _is_loud(word) else word


def _is_loud(word: str) -> bool:
    """Long, mixed, and without the look of a hash, an id, a path or a name."""
    plain = word.replace("-", "")
    if (
        all(c in "0123456789abcdefABCDEF" for c in plain)
        or "/" in word
        or word.startswith(PUBLIC_KEYS)
        or word.count("-") > 3
        or word.count("_") > 3
    ):
        return False
    kinds = sum((any(c.isupper() for c in word), any(c.islower() for c in word), sum(c.isdigit() for c in word) >= 3))
    if kinds < 3:
        return False
    counts = [word.count(c) for c in set(word)]
    bits = -sum(n / len(word) * math.log2(n / len(word)) for n in counts)
    return bits >= ENTROPY_BITS
