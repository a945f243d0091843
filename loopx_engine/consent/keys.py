"""The owner's key: Ed25519 in OpenSSH private-key format, sealed by a passphrase with its own KDF, outside the ledger's home.

The public half is read without any cryptography; opening, making and verifying load `cryptography` when they are called.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_engine.errors import Fault, LoopxError, Refused
from loopx_engine.host.files import write_private
from loopx_engine.host.paths import private_folder
from loopx_engine.model.record import noun

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAME = "owner"
MAGIC = b"openssh-key-v1\0"
BLOB = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
KEY_BYTES = 32
KDF_ROUNDS = 32
MOST_BYTES = 16_384


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
        """The 64 bytes of an Ed25519 signature."""
        return self._private.sign(data)


def make_owner_key(folder: Path, passphrase: bytes | None) -> PublicKey:
    """A new key in a new file, 0600. Refuses `key_exists`, `key_open`, `empty_passphrase`, `no_sealing`."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    _own_folder(folder)
    exists = Refused(f"there is a key in {folder} already", code="key_exists", next="loopx owner rotate")
    if os.path.lexists(folder / NAME):
        raise exists
    private = Ed25519PrivateKey.generate()
    public = _public_of(private)
    try:
        write_private(folder / NAME, _sealed_bytes(private, passphrase), replace=False)
    except FileExistsError as error:
        raise exists from error
    _write_public(folder, public)
    return public


def public_key(folder: Path) -> PublicKey | None:
    """The key in `owner.pub` (where only that file is lost, in the head of the private one), or None.

    Refuses (`key_damaged`) a file that cannot be read or is no Ed25519 key.
    """
    path = folder / f"{NAME}.pub"
    try:
        data = _read(path)
    except FileNotFoundError:
        return _public_in(folder)
    try:
        line = " ".join(data.decode("ascii").split()[:2])
    except UnicodeDecodeError as error:
        raise _damaged(f"{path} cannot be read") from error
    return PublicKey(text=line, id=key_id(line))


def key_id(text: str) -> str:
    """A short fingerprint of an OpenSSH public key. Refuses (`key_damaged`) what is no Ed25519 key."""
    parts = text.split()
    try:
        blob = base64.b64decode(parts[1], validate=True)
    except (IndexError, binascii.Error, ValueError):
        blob = b""
    if parts[:1] != ["ssh-ed25519"] or not blob.startswith(BLOB) or len(blob) != len(BLOB) + KEY_BYTES:
        raise Refused("it is no ssh-ed25519 public key", code="key_damaged", next="loopx owner init")
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")[:22]


def sealed(folder: Path) -> bool:
    """Whether the private key file is sealed by a passphrase. Refuses as `load_signer` does."""
    return _head(folder, _private_bytes(folder))[0] != b"none"


def load_signer(folder: Path, passphrase: bytes | None) -> Signer:
    """The opened key. Refuses `no_key`, `wrong_passphrase`, `key_open` (others may reach it), `key_damaged`, `no_sealing`.

    An `owner.pub` that is lost or belongs to another key is written anew.
    """
    private = _load(folder, passphrase)
    public = _public_of(private)
    with contextlib.suppress(LoopxError, OSError):
        _mend_public(folder, public)
    return Signer(private, public, "passphrase" if sealed(folder) else "key file")


def protect(folder: Path, old: bytes | None, new: bytes | None) -> None:
    """Seals the key with another passphrase (None: opens it). The key stays the same."""
    write_private(folder / NAME, _sealed_bytes(_load(folder, old), new))


def rotate(
    folder: Path,
    old: bytes | None,
    new: bytes | None,
    *,
    record: Callable[[Signer, PublicKey], None] | None = None,
) -> tuple[Signer, PublicKey]:
    """A new key in the place of the old one, which is kept as `owner.<key id>.old` and returned to sign the change.

    `record` is called while the old key is still in place and the new one waits in `owner.next`. When it raises a
    `LoopxError` nothing has changed; after any other end `owner.next` is kept, since the ledger may know that key.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    signer = load_signer(folder, old)
    private = Ed25519PrivateKey.generate()
    public = _public_of(private)
    waiting = write_private(folder / f"{NAME}.next", _sealed_bytes(private, new))
    if record is not None:
        try:
            record(signer, public)
        except LoopxError:
            waiting.unlink()
            raise
    aside = "".join(character for character in signer.public.id if character.isalnum())
    write_private(folder / f"{NAME}.{aside}.old", _private_bytes(folder))
    write_private(folder / NAME, waiting.read_bytes())
    _write_public(folder, public)
    waiting.unlink()
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
    is_sealed = _head(folder, data)[0] != b"none"
    if is_sealed and not passphrase:
        raise Refused("the owner key is sealed", code="wrong_passphrase", next="give its passphrase")
    try:
        key = load_ssh_private_key(data, passphrase if is_sealed else None)
    except UnsupportedAlgorithm as error:
        raise (_no_sealing() if is_sealed and _cannot_seal() else _damaged(f"{folder / NAME} is damaged")) from error
    except (ValueError, TypeError) as error:
        if is_sealed:
            raise Refused(
                "that is not the passphrase of the owner key", code="wrong_passphrase", next="try again"
            ) from error
        raise _damaged(f"{folder / NAME} is damaged") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _damaged(f"{folder / NAME} is no Ed25519 key")
    return key


def _private_bytes(folder: Path) -> bytes:
    path = folder / NAME
    try:
        _refuse_open(folder, 0o022, "write in", "700")
        _refuse_open(path, 0o077, "read", "600")
        return _read(path)
    except FileNotFoundError as error:
        raise Refused("there is no owner key", code="no_key", next="loopx owner init") from error
    except OSError as error:
        raise _damaged(f"{path} cannot be read: {error.strerror}") from error


def _read(path: Path) -> bytes:
    """A small regular file. A pipe or a device is not waited for."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise _damaged(f"{path} is no file")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _damaged(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise _damaged(f"{path} is too large for a key")
    return data


def _refuse_open(path: Path, bits: int, may: str, mode: str) -> None:
    if os.name != "nt" and stat.S_IMODE(path.stat().st_mode) & bits:
        raise Refused(f"others may {may} {path}", code="key_open", next=f"chmod {mode} {path}")


def _own_folder(folder: Path) -> None:
    """Makes the key folder, or takes an empty one for itself; one with other things in it must be closed to writers."""
    private_folder(folder)
    if os.name == "nt" or not stat.S_IMODE(folder.stat().st_mode) & 0o077:
        return
    if any(folder.iterdir()):
        _refuse_open(folder, 0o022, "write in", "700")
    else:
        folder.chmod(0o700)


def _head(folder: Path, data: bytes) -> tuple[bytes, bytes]:
    """(cipher, public blob) from the open head of an OpenSSH private key."""
    body = b"".join(line for line in data.splitlines() if not line.startswith(b"-----"))
    try:
        raw = base64.b64decode(body, validate=True)
        if not raw.startswith(MAGIC):
            raise ValueError("another format")
        cipher, at = _field(raw, len(MAGIC))
        for _ in ("key derivation", "its options"):
            _, at = _field(raw, at)
        blob, _ = _field(raw, at + 4)
    except (binascii.Error, ValueError, struct.error) as error:
        raise _damaged(f"{folder / NAME} is no OpenSSH key") from error
    return cipher, blob


def _field(raw: bytes, at: int) -> tuple[bytes, int]:
    (length,) = struct.unpack_from(">I", raw, at)
    end = at + 4 + length
    if end > len(raw):
        raise ValueError("it ends early")
    return raw[at + 4 : end], end


def _public_in(folder: Path) -> PublicKey | None:
    try:
        _, blob = _head(folder, _private_bytes(folder))
    except Refused as error:
        if error.code == "no_key":
            return None
        raise
    line = f"ssh-ed25519 {base64.b64encode(blob).decode()}"
    return PublicKey(text=line, id=key_id(line))


def _mend_public(folder: Path, public: PublicKey) -> None:
    try:
        stands = (folder / f"{NAME}.pub").exists() and public_key(folder) == public
    except Refused:
        stands = False
    if not stands:
        _write_public(folder, public)


def _write_public(folder: Path, public: PublicKey) -> None:
    write_private(folder / f"{NAME}.pub", f"{public.text}\n".encode())


def _public_of(private: Ed25519PrivateKey) -> PublicKey:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    text = private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return PublicKey(text=text, id=key_id(text))


def _sealed_bytes(private: Ed25519PrivateKey, passphrase: bytes | None) -> bytes:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        KeySerializationEncryption,
        NoEncryption,
        PrivateFormat,
    )

    how: KeySerializationEncryption = NoEncryption()
    if passphrase is not None:
        if not passphrase:
            raise Refused("the passphrase is empty", code="empty_passphrase", next="loopx owner init --no-passphrase")
        how = PrivateFormat.OpenSSH.encryption_builder().kdf_rounds(KDF_ROUNDS).build(passphrase)
    try:
        return private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, how)
    except UnsupportedAlgorithm as error:
        raise _no_sealing() from error


def _damaged(message: str) -> Refused:
    return Refused(message, code="key_damaged", next="put back a copy of it")


def _cannot_seal() -> bool:
    from importlib.util import find_spec

    return find_spec("bcrypt") is None


def _no_sealing() -> Fault:
    return Fault("the package bcrypt, which seals keys, is not installed", code="no_sealing", next="pip install bcrypt")
