"""Redaction: secrets are masked before anything is digested, stored or sent. Known shapes, known values, and loud entropy.

Git ids, UUIDs and digests survive. The same text redacted twice is the same text. A text without a secret costs little.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import Match, Pattern

SECRET_NAMES = (
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL",
)  # fmt: skip
PLACE_NAMES = ("_FD", "_FILE", "_PATH", "_DIR")
LEAST_VALUE = 8
START = r"(?<![A-Za-z0-9])"
NAMES = ("password", "passwd", "passphrase", "secret", "token", "api", "access", "private")
ASSIGNED = (
    r"(?i:(?P<kept>(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)"
    r"\\?[\"']?\s{0,3}[:=]\s{0,3}%s))"
)
# What stands for a secret without being one: a mark, $VARIABLE, call(), a dotted.name.
NO_SECRET = (
    r"(?!\[redacted |\$\{?[A-Z_][A-Z0-9_]*\}?(?![A-Za-z0-9])"
    r"|[A-Za-z_]\w*(?:\.\w+)*[(\[]|[A-Za-z_]+(?:\.[A-Za-z_]+)+(?:[\s,;)]|\Z))"
)
# (kind, one of these is in the text in lower case, pattern). A group `kept` stays; repeats are bounded where a search could
# start at every character.
SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "private key",
        ("-----begin",),
        r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    ("aws key", ("akia", "asia"), START + r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("github token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), START + r"gh[pousr]_[A-Za-z0-9]{30,}"),
    ("github token", ("github_pat_",), START + r"github_pat_[A-Za-z0-9_]{40,}"),
    ("gitlab token", ("glpat-",), START + r"glpat-[A-Za-z0-9_-]{20,}"),
    ("slack token", ("xox",), START + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("api key", ("sk-",), START + r"sk-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,}"),
    ("google key", ("aiza",), START + r"AIza[0-9A-Za-z_-]{35,}"),
    ("jwt", ("eyj",), START + r"eyJ[A-Za-z0-9_-]{8,500}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    ("npm token", ("npm_",), START + r"npm_[A-Za-z0-9]{36,}"),
    ("pypi token", ("pypi-",), START + r"pypi-[A-Za-z0-9_-]{40,}"),
    ("hub token", ("hf_",), START + r"hf_[A-Za-z0-9]{30,}"),
    ("loopx token", ("lxa_", "lxt_"), START + r"lx[at]_[A-Za-z0-9_-]{40,}"),
    ("password", ("://",), r"(?P<kept>\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\[\]]{0,100}:)[^\s/\[\]]{1,200}(?=@)"),
    (
        "credential",
        ("authorization",),
        r"(?i:(?P<kept>\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:[a-z]{1,20}\s{1,3})?)[\w.~+/=-]{12,})",
    ),
    ("credential", ("bearer",), r"(?i:(?P<kept>\bbearer\s{1,3})(?=[\w.~+/=-]{0,60}[0-9])[\w.~+/=-]{16,})"),
    ("secret", NAMES, ASSIGNED % r"\\?[\"']" + NO_SECRET + r"[^\"'\\\n]{8,}(?=\\?[\"'])"),
    ("secret", NAMES, ASSIGNED % r"\\?[\"']?" + NO_SECRET + r"[^\s\"'\[\]{}(),;\\]{8,}"),
)
ENTROPY_LENGTH = 32
DATA_LENGTH = 1024
ENTROPY_BITS = 4.3
NAME_LIKE = 0.55
PUBLIC_KEYS = ("AAAAC3NzaC1", "AAAAB3NzaC1", "AAAAE2VjZHNh")
RUN = r"(?i:sha[0-9]{1,3}[-:=])?[A-Za-z0-9+/_-]{32,}={0,2}"
MARK = r"\[redacted [a-z ]{1,20}\]"


def redact(text: str, known: Collection[str] = ()) -> str:
    """The text with secrets as `[redacted KIND]`. `known` are exact values to mask as well."""
    if known and any(value in text for value in known if value):
        text = _without(text, known)
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


def _once(text: str) -> str:
    if len(text) < LEAST_VALUE:
        return text
    lowered = text.lower()
    for number, (_, hints, _) in enumerate(SHAPES):
        for hint in hints:
            if hint in lowered:
                pattern, mask = _compiled(number)
                text = pattern.sub(mask, text)
                break
    if len(text) >= ENTROPY_LENGTH and max(map(len, text.split()), default=0) >= ENTROPY_LENGTH:
        text = _run().sub(_loud, text)
    return text


@cache
def _compiled(number: int) -> tuple[Pattern[str], str]:
    import re

    kind, _, pattern = SHAPES[number]
    kept = r"\g<kept>" if "(?P<kept>" in pattern else ""
    return re.compile(pattern, re.DOTALL), f"{kept}[redacted {kind}]"


@cache
def _run() -> Pattern[str]:
    import re

    return re.compile(RUN)


def _loud(match: Match[str]) -> str:
    word = match[0]
    return "[redacted entropy]" if _is_loud(word) else word


def _is_loud(word: str) -> bool:
    """Long, mixed, and without the look of a hash, an id, a path or a name."""
    if len(word) > DATA_LENGTH:
        return False
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
