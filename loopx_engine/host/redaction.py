"""Redaction: secrets are masked before anything is digested, stored or sent. Known shapes, known values, and loud entropy.

Git ids, UUIDs and digests survive. The same text redacted twice is the same text. A text without a secret costs little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import Match, Pattern

SECRET_NAMES = (
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL",
)  # fmt: skip
PLACE_NAMES = ("_FD", "_FILE", "_PATH", "_DIR")
LEAST_VALUE = 8
ENTROPY_LENGTH = 32
ENTROPY_BITS = 4.3
NAME_LIKE = 0.6
PUBLIC_KEYS = ("AAAAC3NzaC1", "AAAAB3NzaC1", "AAAAE2VjZHNh")
HINTS = (
    "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "sk-", "AIza", "eyJ", "-----BEGIN",
    "npm_", "pypi-", "lxa_", "lxt_", "://", "hf_",
)  # fmt: skip
WORDS = ("bearer", "authorization", "passw", "passphrase", "secret", "token", "key")
START = r"(?<![A-Za-z0-9])"
SHAPES: tuple[tuple[str, str], ...] = (
    (
        "private key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    ("aws key", START + r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("github token", START + r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})"),
    ("gitlab token", START + r"glpat-[A-Za-z0-9_-]{20,}"),
    ("slack token", START + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("api key", START + r"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}"),
    ("google key", START + r"AIza[0-9A-Za-z_-]{35,}"),
    ("jwt", START + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    ("npm token", START + r"npm_[A-Za-z0-9]{36,}"),
    ("pypi token", START + r"pypi-[A-Za-z0-9_-]{40,}"),
    ("hub token", START + r"hf_[A-Za-z0-9]{30,}"),
    ("loopx token", START + r"lx[at]_[A-Za-z0-9_-]{40,}"),
)
ASSIGNED = (
    r"(?i:(?P<kept>(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)"
    r"\\?[\"']?\s{0,3}[:=]\s{0,3}%s))"
)
# What stands for a secret without being one: a mark, $VARIABLE, call(), a dotted.name.
NO_SECRET = r"(?!\[redacted |\$\{?[A-Z_][A-Z0-9_]*\}?(?![A-Za-z0-9])|[A-Za-z_]\w*(?:\.\w+)*[(\[]|[A-Za-z_]+(?:\.[A-Za-z_]+)+(?:[\s,;)]|\Z))"
KEPT: tuple[tuple[str, str], ...] = (
    ("password", r"(?P<kept>\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\[\]]{0,100}:)[^\s/\[\]]{1,200}(?=@)"),
    (
        "credential",
        r"(?i:(?P<kept>\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:[a-z]{1,20}\s{1,3})?)[\w.~+/=-]{12,})",
    ),
    ("credential", r"(?i:(?P<kept>\bbearer\s{1,3})(?=[^\s\"']*[0-9])[\w.~+/=-]{16,})"),
    ("secret", ASSIGNED % r"\\?[\"']" + NO_SECRET + r"[^\"'\\\n]{8,}(?=\\?[\"'])"),
    ("secret", ASSIGNED % r"\\?[\"']?" + NO_SECRET + r"[^\s\"'\[\]{}(),;\\]{8,}"),
)
RUN = r"(?i:sha[0-9]{1,3}[-:=])?[A-Za-z0-9+/_=-]{32,}"
MARK = r"\[redacted [a-z ]{1,20}\]"


def redact(text: str, known: Collection[str] = ()) -> str:
    """The text with secrets as `[redacted KIND]`. `known` are exact values to mask as well."""
    if known and any(value in text for value in known if value):
        text = _without(text, known)
    if len(text) < LEAST_VALUE or not _worth(text):
        return text
    while (masked := _once(text)) != text:
        text = masked
    return text


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
    """The values (8 characters and more) of variables whose names say that they are secret, not where one lies."""
    return frozenset(
        value
        for name, value in environ.items()
        if len(value) >= LEAST_VALUE
        and any(word in name.upper() for word in SECRET_NAMES)
        and not name.upper().endswith(PLACE_NAMES)
        and not value.isdigit()
        and not ("CREDENTIAL" in name.upper() and value.startswith(("/", "~")))
    )


def _without(text: str, known: Collection[str]) -> str:
    """Masks known values, the longest first; what is a mark already stays one."""
    import re

    values = "|".join(re.escape(value) for value in sorted(known, key=lambda value: (-len(value), value)) if value)
    found = re.compile(f"(?P<mark>{MARK})|{values}")
    return found.sub(lambda match: match["mark"] or "[redacted value]", text)


def _worth(text: str) -> bool:
    if any(hint in text for hint in HINTS):
        return True
    lowered = text.lower()
    return any(word in lowered for word in WORDS) or (
        len(text) >= ENTROPY_LENGTH and any(len(word) >= ENTROPY_LENGTH for word in text.split())
    )


def _once(text: str) -> str:
    for pattern, mask in _compiled():
        text = pattern.sub(mask, text)
    return text


@lru_cache(maxsize=1)
def _compiled() -> tuple[tuple[Pattern[str], str | Callable[[Match[str]], str]], ...]:
    import re

    return (
        *((re.compile(pattern, re.DOTALL), f"[redacted {kind}]") for kind, pattern in SHAPES),
        *((re.compile(pattern), rf"\g<kept>[redacted {kind}]") for kind, pattern in KEPT),
        (re.compile(RUN), _loud),
    )


def _loud(match: Match[str]) -> str:
    word = match[0]
    return "[redacted entropy]" if _is_loud(word) else word


def _is_loud(word: str) -> bool:
    """Long, mixed, and without the look of a hash, an id, a path or a name."""
    plain = word.replace("-", "")
    if word[:3].lower() == "sha" and word[3:4].isdigit():
        return False
    if all(character in "0123456789abcdefABCDEF" for character in plain) or word.startswith(PUBLIC_KEYS):
        return False
    if "/" in word or word.count("-") > 3 or word.count("_") > 3:
        return False
    digits = sum(map(word.count, "0123456789"))
    small = sum(map(str.islower, word))
    if digits < 3 or word.upper() == word or word.lower() == word or small > NAME_LIKE * len(word):
        return False
    counts = [word.count(character) for character in set(word)]
    bits = -sum(count / len(word) * math.log2(count / len(word)) for count in counts)
    return bits >= ENTROPY_BITS
