"""Tokens: long, random, kept as a hash, and refused when they do not look like one."""

from __future__ import annotations

import base64
import hashlib

import pytest
from support import a26_1

from loopx_engine.consent.tokens import new_token, same, token_hash
from loopx_engine.errors import Refused
from loopx_engine.host.redaction import redact


@pytest.mark.parametrize(("kind", "prefix"), [("actor", "lxa_"), ("turn", "lxt_")])
def test_token_carries_256_random_bits_and_says_its_kind(kind: str, prefix: str) -> None:
    token, hashed = new_token(kind)  # type: ignore[arg-type]
    assert token.startswith(prefix)
    assert len(base64.urlsafe_b64decode(token[4:] + "=")) == 32
    assert hashed == token_hash(token) == hashlib.sha256(token.encode()).hexdigest()


def test_no_two_tokens_are_equal() -> None:
    assert len({new_token("actor")[0] for _ in range(1000)}) == 1000


def test_hash_does_not_give_the_token_away() -> None:
    token, hashed = new_token("turn")
    assert token[4:] not in hashed
    assert len(hashed) == 64


def test_unknown_kind_is_no_token() -> None:
    with pytest.raises(KeyError):
        new_token("person")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "token",
    [
        "",
        "lxa_",
        "lxa_" + "a" * 42,
        "lxa_" + "a" * 44,
        "lxb_" + "a" * 43,
        "LXA_" + "a" * 43,
        "lxa_" + "a" * 42 + "\n",
        "lxa_" + "a" * 43 + "\n",
        " lxa_" + "a" * 43,
        "lxa_" + "a" * 42 + "é",
        "lxa_" + "a" * 42 + "+",
        "lxa_" + "٣" * 43,
        "lxa_" + "a" * 1_000_000,
        *a26_1().values(),
    ],
)
def test_malformed_token_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(Refused) as caught:
        token_hash(token)
    assert caught.value.code == "bad_token"
    assert not token.strip() or token not in caught.value.message


def test_token_of_one_kind_is_not_that_of_the_other() -> None:
    token, hashed = new_token("actor")
    assert token_hash("lxt_" + token[4:]) != hashed


def test_hashes_are_compared_whole() -> None:
    _, hashed = new_token("actor")
    assert same(hashed, hashed)
    assert not same(hashed, hashed[:-1])
    assert not same(hashed, "")
    assert not same("\ud800é", hashed)


def test_every_token_is_masked_wherever_it_is_printed() -> None:
    for _ in range(200):
        token, _ = new_token("turn")
        assert token not in redact(f"LOOPX_TOKEN={token} and {token}.")
