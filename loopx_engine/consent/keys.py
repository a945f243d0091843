"""The owner's key: Ed25519 in OpenSSH private-key format, sealed by a passphrase with its own KDF, outside the ledger's home."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import stat
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_engine.errors import NotFound, Refused
from loopx_engine.host.files import write_private
from loopx_engine.host.paths import private_folder
from loopx_engine.model.record import noun

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAME = "owner"
MAGIC = b"openssh-key-v1\0"


@noun
class PublicKey:
    """`text` is the one-line OpenSSH form, `id` a short fingerprint of it."""

    text: str
    id: str


class Signer:
    """An opened key. `strength` is `passphrase` where the file is sealed, else `key file`."""

    def __init__(self, private: Ed25519PrivateKey, public: PublicKey, strength: str) -> None:
        self._private = private
        self.public = public
        self.strength = strength

    def sign(self, data: bytes) -> bytes:
        return self._private.sign(data)


def make_owner_key(folder: Path, passphrase: bytes | None) -> PublicKey:
    """A new key in a new file, 0600. Refuses (`key_exists`) to overwrite one."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private_folder(folder)
    if (folder / NAME).exists():
        raise Refused(f"there is a key in {folder} already", code="key_exists", next="loopx owner rotate")
    private = Ed25519PrivateKey.generate()
    public = _public_of(private)
    write_private(folder / NAME, _sealed_bytes(private, passphrase))
    write_private(folder / f"{NAME}.pub", f"{public.text}\n".encode())
    return public


def public_key(folder: Path) -> PublicKey | None:
    """The public key beside the private one, or None. Raises `Refused` (`key_damaged`) for an unreadable file."""
    try:
        text = (folder / f"{NAME}.pub").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{folder / NAME}.pub cannot be read", code="key_damaged", next="put back a copy of it") from error
    line = " ".join(text.split()[:2])
    return PublicKey(text=line, id=key_id(line))


def key_id(text: str) -> str:
    """A short fingerprint of an OpenSSH public key. Refuses (`key_damaged`) what is no Ed25519 key."""
    parts = text.split()
    try:
        blob = base64.b64decode(parts[1], validate=True)
    except (IndexError, binascii.Error, ValueError):
        blob = b""
    if parts[:1] != ["ssh-ed25519"] or len(blob) != 51:
        raise Refused("it is no ssh-ed25519 public key", code="key_damaged", next="loopx owner init")
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")[:22]


def sealed(folder: Path) -> bool:
    """Whether the private key file is sealed by a passphrase."""
    data = _private_bytes(folder)
    body = b"".join(line for line in data.splitlines() if not line.startswith(b"-----"))
    try:
        raw = base64.b64decode(body, validate=True)
        (length,) = struct.unpack_from(">I", raw, len(MAGIC))
    except (binascii.Error, ValueError, struct.error) as error:
        raise Refused(f"{folder / NAME} is no OpenSSH key", code="key_damaged", next="put back a copy of it") from error
    return raw[len(MAGIC) + 4 : len(MAGIC) + 4 + length] != b"none"


def load_signer(folder: Path, passphrase: bytes | None) -> Signer:
    """The opened key. Refuses `no_key`, `wrong_passphrase`, `key_open` (others may read it), `key_damaged`."""
    private = _load(folder, passphrase)
    return Signer(private, _public_of(private), "passphrase" if sealed(folder) else "key file")


def protect(folder: Path, old: bytes | None, new: bytes | None) -> None:
    """Seals the key with another passphrase (None: opens it). The key stays the same."""
    write_private(folder / NAME, _sealed_bytes(_load(folder, old), new))


def rotate(folder: Path, old: bytes | None, new: bytes | None) -> tuple[Signer, PublicKey]:
    """A new key in the place of the old one, which is kept as `owner.<id>.old` and returned to sign the change."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    signer = load_signer(folder, old)
    aside = "".join(c for c in signer.public.id if c.isalnum())
    write_private(folder / f"{NAME}.{aside}.old", _private_bytes(folder))
    private = Ed25519PrivateKey.generate()
    public = _public_of(private)
    write_private(folder / NAME, _sealed_bytes(private, new))
    write_private(folder / f"{NAME}.pub", f"{public.text}\n".encode())
    return signer, public


def verify(public_text: str, signature: bytes, data: bytes) -> bool:
    """Whether the signature over the data was made with this key's private half."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    try:
        key = load_ssh_public_key(public_text.encode())
        if not isinstance(key, Ed25519PublicKey):
            return False
        key.verify(signature, data)
    except (InvalidSignature, ValueError, UnsupportedAlgorithm):
        return False
    return True


def _load(folder: Path, passphrase: bytes | None) -> Ed25519PrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    data = _private_bytes(folder)
    is_sealed = sealed(folder)
    if is_sealed and not passphrase:
        raise Refused("the owner key is sealed", code="wrong_passphrase", next="give its passphrase")
    try:
        key = load_ssh_private_key(data, passphrase if is_sealed else None)
    except (ValueError, UnsupportedAlgorithm, TypeError) as error:
        if is_sealed:
            raise Refused("that is not the passphrase of the owner key", code="wrong_passphrase", next="try again") from error
        raise Refused(f"{folder / NAME} is damaged", code="key_damaged", next="put back a copy of it") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise Refused(f"{folder / NAME} is no Ed25519 key", code="key_damaged", next="put back a copy of it")
    return key


def _private_bytes(folder: Path) -> bytes:
    path = folder / NAME
    try:
        if os.name != "nt" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise Refused(f"others may read {path}", code="key_open", next=f"chmod 600 {path}")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotFound("there is no owner key", code="no_key", next="loopx owner init") from error
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}", code="key_damaged", next="put back a copy of it") from error


def _public_of(private: Ed25519PrivateKey) -> PublicKey:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    text = private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return PublicKey(text=text, id=key_id(text))


def _sealed_bytes(private: Ed25519PrivateKey, passphrase: bytes | None) -> bytes:
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        KeySerializationEncryption,
        NoEncryption,
        PrivateFormat,
    )

    how: KeySerializationEncryption = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    return private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, how)
