"""The owner's key on disk: made once, sealed, opened, changed, and refused clearly when something is wrong with it."""

from __future__ import annotations

import base64
import importlib.util
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support import ROOT, absent, require

from loopx_engine.consent import keys
from loopx_engine.consent.keys import (
    PublicKey,
    Signer,
    key_id,
    load_signer,
    make_owner_key,
    protect,
    public_key,
    rotate,
    sealed,
    verify,
)
from loopx_engine.errors import Fault, LoopxError, Refused, TryAgain

PASSPHRASE = "correct horse Ünïcode".encode()


@pytest.fixture(autouse=True)
def quick_sealing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """One round of key derivation, but where the rounds are the subject."""
    if "rounds" not in request.node.name:
        monkeypatch.setattr(keys, "KDF_ROUNDS", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "keys"


@pytest.fixture
def key(folder: Path) -> PublicKey:
    """An unsealed key in `folder`."""
    return make_owner_key(folder, None)


def need_sealing() -> None:
    if importlib.util.find_spec("bcrypt") is None:
        absent("the package bcrypt is not installed")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def opened(folder: Path) -> str:
    """The code of the refusal, or that the key opens and signs for its own public half."""
    try:
        signer = load_signer(folder, None)
    except Refused as error:
        return error.code
    return "opened" if verify(signer.public.text, signer.sign(b"x"), b"x") else "signs for another key"


def refused(code: str) -> pytest.RaisesExc[LoopxError]:
    return pytest.RaisesExc(LoopxError, check=lambda error: error.code == code)


class TestMaking:
    def test_key_lies_in_a_closed_file_in_a_closed_folder(self, folder: Path, key: PublicKey) -> None:
        assert mode(folder) == 0o700
        assert mode(folder / "owner") == 0o600
        assert mode(folder / "owner.pub") == 0o600
        assert sorted(path.name for path in folder.iterdir()) == ["owner", "owner.pub"]

    def test_files_are_closed_whatever_the_umask_allows(self, folder: Path) -> None:
        before = os.umask(0)
        try:
            make_owner_key(folder, None)
        finally:
            os.umask(before)
        assert (mode(folder), mode(folder / "owner")) == (0o700, 0o600)

    def test_private_file_is_in_the_openssh_format(self, folder: Path, key: PublicKey) -> None:
        assert (folder / "owner").read_bytes().startswith(b"-----BEGIN OPENSSH PRIVATE KEY-----\n")
        assert key.text.startswith("ssh-ed25519 AAAA")
        assert (folder / "owner.pub").read_text(encoding="ascii") == f"{key.text}\n"

    def test_ssh_keygen_reads_a_sealed_key_and_names_the_same_fingerprint(self, folder: Path) -> None:
        need_sealing()
        tool = require("ssh-keygen")
        made = make_owner_key(folder, b"pass word")
        said = subprocess.run(
            [tool, "-y", "-P", "pass word", "-f", str(folder / "owner")],
            capture_output=True, encoding="utf-8", check=True,
        )  # fmt: skip
        assert said.stdout.split()[:2] == made.text.split()
        listed = subprocess.run(
            [tool, "-l", "-f", str(folder / "owner.pub")], capture_output=True, encoding="utf-8", check=True
        )
        assert listed.stdout.split()[1].startswith(made.id)

    def test_passphrase_that_ssh_keygen_changed_opens_the_key(self, folder: Path) -> None:
        need_sealing()
        tool = require("ssh-keygen")
        made = make_owner_key(folder, b"old one")
        subprocess.run(
            [tool, "-p", "-P", "old one", "-N", "new one", "-f", str(folder / "owner")],
            capture_output=True, check=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert load_signer(folder, b"new one").public == made

    def test_passphrase_is_derived_in_no_fewer_rounds_than_ssh_keygen_takes(self, folder: Path) -> None:
        need_sealing()
        make_owner_key(folder, b"pass word")
        raw = base64.b64decode(b"".join((folder / "owner").read_bytes().splitlines()[1:-1]))
        start = raw.index(b"bcrypt") + len(b"bcrypt") + 4
        salt = int.from_bytes(raw[start : start + 4], "big")
        rounds = int.from_bytes(raw[start + 4 + salt : start + 8 + salt], "big")
        assert salt >= 16
        assert rounds >= 24

    def test_existing_key_is_never_overwritten(self, folder: Path, key: PublicKey) -> None:
        before = contents(folder)
        with refused("key_exists"):
            make_owner_key(folder, None)
        assert contents(folder) == before

    def test_link_that_leads_nowhere_counts_as_an_existing_key(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        (folder / "owner").symlink_to(folder / "elsewhere")
        with refused("key_exists"):
            make_owner_key(folder, None)
        assert not (folder / "elsewhere").exists()

    def test_of_many_at_once_exactly_one_makes_the_key(self, folder: Path) -> None:
        together = threading.Barrier(8)
        made: list[PublicKey] = []
        codes: list[str] = []

        def make() -> None:
            together.wait()
            try:
                made.append(make_owner_key(folder, None))
            except Refused as error:
                codes.append(error.code)

        threads = [threading.Thread(target=make) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert codes == ["key_exists"] * 7
        assert [load_signer(folder, None).public] == made
        assert sorted(path.name for path in folder.iterdir()) == ["owner", "owner.pub"]

    def test_key_that_appears_after_the_look_is_not_overwritten(
        self, folder: Path, key: PublicKey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = contents(folder)
        monkeypatch.setattr(os.path, "lexists", lambda path: False)
        with refused("key_exists"):
            make_owner_key(folder, None)
        assert contents(folder) == before

    def test_empty_passphrase_is_not_read_as_no_passphrase(self, folder: Path) -> None:
        with refused("empty_passphrase"):
            make_owner_key(folder, b"")
        assert contents(folder) == {}

    def test_empty_folder_that_others_may_read_is_closed(self, folder: Path) -> None:
        folder.mkdir()
        folder.chmod(0o755)
        make_owner_key(folder, None)
        assert mode(folder) == 0o700

    def test_folder_with_other_things_that_others_may_write_is_refused(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "other").touch()
        folder.chmod(0o777)
        with refused("key_open"):
            make_owner_key(folder, None)
        assert mode(folder) == 0o777
        assert not (folder / "owner").exists()

    def test_folder_with_other_things_that_others_may_only_read_is_used_as_it_is(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "other").touch()
        folder.chmod(0o755)
        make_owner_key(folder, None)
        assert mode(folder) == 0o755
        assert load_signer(folder, None).strength == "key file"

    def test_folder_whose_name_is_a_file_is_refused(self, folder: Path) -> None:
        folder.touch()
        with refused("no_folder"):
            make_owner_key(folder, None)


class TestOpening:
    def test_missing_key_names_the_command_that_makes_one(self, folder: Path) -> None:
        with pytest.raises(Refused) as caught:
            load_signer(folder, None)
        assert (caught.value.code, caught.value.next) == ("no_key", "loopx owner init")

    def test_strength_says_how_the_key_is_kept(self, folder: Path, key: PublicKey) -> None:
        need_sealing()
        assert load_signer(folder, None).strength == "key file"
        protect(folder, None, PASSPHRASE)
        assert load_signer(folder, PASSPHRASE).strength == "passphrase"

    def test_sealed_key_opens_with_its_passphrase_alone(self, folder: Path) -> None:
        need_sealing()
        made = make_owner_key(folder, PASSPHRASE)
        assert sealed(folder)
        signer = load_signer(folder, PASSPHRASE)
        assert signer.public == made
        assert verify(made.text, signer.sign(b"data"), b"data")
        for wrong in (b"wrong", PASSPHRASE + b" ", None, b""):
            with refused("wrong_passphrase"):
                load_signer(folder, wrong)

    def test_passphrase_for_an_open_key_is_not_needed(self, folder: Path, key: PublicKey) -> None:
        assert not sealed(folder)
        assert load_signer(folder, b"whatever").public == key

    def test_file_that_others_may_read_is_refused(self, folder: Path, key: PublicKey) -> None:
        for bits in (0o640, 0o604, 0o620, 0o777):
            (folder / "owner").chmod(bits)
            with pytest.raises(Refused) as caught:
                load_signer(folder, None)
            assert (caught.value.code, caught.value.next) == ("key_open", f"chmod 600 {folder / 'owner'}")

    def test_folder_that_others_may_write_is_refused(self, folder: Path, key: PublicKey) -> None:
        for bits in (0o770, 0o707, 0o1777):
            folder.chmod(bits)
            with refused("key_open"):
                load_signer(folder, None)

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"not a key",
            b"\x00\xff" * 100,
            b"-----BEGIN OPENSSH PRIVATE KEY-----\n-----END OPENSSH PRIVATE KEY-----\n",
            b"-----BEGIN OPENSSH PRIVATE KEY-----\n!!!\n-----END OPENSSH PRIVATE KEY-----\n",
            base64.b64encode(b"openssh-key-v1\0\0\0"),
            base64.b64encode(b"openssh-key-v1\0\xff\xff\xff\xffnone"),
            base64.b64encode(b"openssh-key-v2\0" + b"\0" * 100),
            b"A" * 20_000,
        ],
        ids=[
            "empty",
            "text",
            "binary",
            "no body",
            "no base64",
            "short head",
            "long field",
            "other format",
            "too large",
        ],
    )
    def test_damaged_file_is_named_and_never_taken_for_no_key(self, folder: Path, key: PublicKey, data: bytes) -> None:
        (folder / "owner").write_bytes(data)
        for read in (lambda: load_signer(folder, None), lambda: sealed(folder), lambda: protect(folder, None, None)):
            with refused("key_damaged"):
                read()
        assert (folder / "owner").read_bytes() == data

    def test_file_cut_anywhere_is_refused(self, folder: Path, key: PublicKey) -> None:
        whole = (folder / "owner").read_bytes()
        for length in range(0, len(whole) - 40, 7):
            (folder / "owner").write_bytes(whole[:length])
            with refused("key_damaged"):
                load_signer(folder, None)

    def test_changed_byte_is_refused_or_changes_nothing(self, folder: Path, key: PublicKey) -> None:
        whole = (folder / "owner").read_bytes()
        for at in range(36, len(whole) - 36, 3):
            (folder / "owner").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert opened(folder) in ("key_damaged", "wrong_passphrase", "opened")

    def test_key_of_another_kind_is_refused(self, folder: Path, key: PublicKey) -> None:
        from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        other = generate_private_key(SECP256R1())
        (folder / "owner").write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
        with refused("key_damaged"):
            load_signer(folder, None)
        (folder / "owner").write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        with refused("key_damaged"):
            load_signer(folder, None)

    def test_what_is_no_file_is_refused_without_waiting_for_it(self, folder: Path, key: PublicKey) -> None:
        path = folder / "owner"
        path.unlink()
        os.mkfifo(path, 0o600)
        with refused("key_damaged"):
            load_signer(folder, None)
        path.unlink()
        path.mkdir(mode=0o700)
        with refused("key_damaged"):
            load_signer(folder, None)
        path.rmdir()
        path.symlink_to(path)
        with refused("key_damaged"):
            load_signer(folder, None)

    def test_file_that_cannot_be_read_is_refused(
        self, folder: Path, key: PublicKey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def denied(self: Path, *given: object, **named: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", denied)
        with refused("key_damaged"):
            load_signer(folder, None)

    def test_without_the_sealing_package_nobody_is_told_that_the_passphrase_is_wrong(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization import ssh

        def missing(*given: object) -> bytes:
            raise UnsupportedAlgorithm("Need bcrypt module")

        need_sealing()
        make_owner_key(folder, PASSPHRASE)
        monkeypatch.setattr(ssh, "_bcrypt_kdf", missing)
        monkeypatch.setitem(sys.modules, "bcrypt", None)
        with pytest.raises(Fault) as caught:
            load_signer(folder, PASSPHRASE)
        assert caught.value.code == "no_sealing"
        with pytest.raises(Fault):
            make_owner_key(folder / "other", PASSPHRASE)
        assert not (folder / "other" / "owner").exists()


class TestPublicHalf:
    def test_no_key_is_none(self, folder: Path) -> None:
        assert public_key(folder) is None
        folder.mkdir(mode=0o700)
        assert public_key(folder) is None

    def test_it_is_read_from_the_file_beside_the_key(self, folder: Path, key: PublicKey) -> None:
        assert public_key(folder) == key
        (folder / "owner").unlink()
        assert public_key(folder) == key

    def test_comment_is_not_part_of_the_key(self, folder: Path, key: PublicKey) -> None:
        (folder / "owner.pub").write_text(f"  {key.text}   me@desk \n", encoding="ascii")
        assert public_key(folder) == key

    def test_lost_file_is_read_from_the_head_of_the_private_one_without_the_passphrase(self, folder: Path) -> None:
        need_sealing()
        made = make_owner_key(folder, PASSPHRASE)
        (folder / "owner.pub").unlink()
        assert public_key(folder) == made

    def test_lost_file_beside_a_damaged_key_is_said(self, folder: Path, key: PublicKey) -> None:
        (folder / "owner.pub").unlink()
        (folder / "owner").write_bytes(b"junk")
        with refused("key_damaged"):
            public_key(folder)

    @pytest.mark.parametrize(
        "data", [b"", b"junk", "ssh-ed25519 ÄÖ".encode(), b"ssh-rsa AAAA", b"ssh-ed25519 AAAA", b"x" * 20_000]
    )
    def test_damaged_file_is_refused(self, folder: Path, key: PublicKey, data: bytes) -> None:
        (folder / "owner.pub").write_bytes(data)
        with refused("key_damaged"):
            public_key(folder)

    def test_opening_writes_a_lost_swapped_or_damaged_file_anew(
        self, folder: Path, key: PublicKey, tmp_path: Path
    ) -> None:
        make_owner_key(tmp_path / "other", None)
        swapped = (tmp_path / "other" / "owner.pub").read_bytes()
        for data in (swapped, b"junk"):
            (folder / "owner.pub").write_bytes(data)
            assert load_signer(folder, None).public == key
            assert public_key(folder) == key
        (folder / "owner.pub").unlink()
        load_signer(folder, None)
        assert (folder / "owner.pub").read_text(encoding="ascii") == f"{key.text}\n"

    def test_key_opens_although_the_file_beside_it_cannot_be_written(
        self, folder: Path, key: PublicKey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*given: object, **named: object) -> Path:
            raise TryAgain("no room", code="disk_full")

        (folder / "owner.pub").unlink()
        monkeypatch.setattr(keys, "write_private", full)
        assert load_signer(folder, None).public == key

    def test_reading_it_loads_no_cryptography(self, folder: Path, key: PublicKey) -> None:
        code = (
            "import sys; from pathlib import Path; from loopx_engine.consent.keys import public_key;"
            "found = public_key(Path(sys.argv[1])); print(found.id, 'cryptography' in sys.modules)"
        )
        said = subprocess.run(
            [sys.executable, "-c", code, str(folder)], capture_output=True, encoding="utf-8", check=True, cwd=ROOT
        )
        assert said.stdout.split() == [key.id, "False"]

    @pytest.mark.parametrize(
        "text", ["", "ssh-ed25519", "ssh-ed25519 !!", "ssh-rsa " + "A" * 68, "ssh-ed25519 " + "A" * 68, "\ud800 x"]
    )
    def test_what_is_no_ed25519_key_has_no_id(self, text: str) -> None:
        with refused("key_damaged"):
            key_id(text)


class TestProtecting:
    def test_the_key_stays_and_only_the_new_passphrase_opens_it(self, folder: Path, key: PublicKey) -> None:
        need_sealing()
        protect(folder, None, b"first")
        assert sealed(folder)
        protect(folder, b"first", b"second")
        assert load_signer(folder, b"second").public == key
        with refused("wrong_passphrase"):
            load_signer(folder, b"first")
        protect(folder, b"second", None)
        assert not sealed(folder)
        assert load_signer(folder, None).public == key
        assert mode(folder / "owner") == 0o600

    def test_refusal_leaves_the_file_as_it_was(self, folder: Path) -> None:
        need_sealing()
        make_owner_key(folder, b"first")
        before = contents(folder)
        with refused("wrong_passphrase"):
            protect(folder, b"wrong", b"second")
        with refused("empty_passphrase"):
            protect(folder, b"first", b"")
        assert contents(folder) == before

    def test_nothing_to_protect_is_said(self, folder: Path) -> None:
        with refused("no_key"):
            protect(folder, None, b"new")


class TestRotating:
    def test_old_key_is_kept_aside_and_returned_to_sign_the_change(self, folder: Path, key: PublicKey) -> None:
        before = (folder / "owner").read_bytes()
        old, new = rotate(folder, None, None)
        assert old.public == key
        assert new != key
        assert load_signer(folder, None).public == new == public_key(folder)
        aside = [path for path in folder.iterdir() if path.name.endswith(".old")]
        assert [path.read_bytes() for path in aside] == [before]
        assert [mode(path) for path in aside] == [0o600]
        assert sorted(path.name for path in folder.iterdir()) == sorted([aside[0].name, "owner", "owner.pub"])
        assert verify(key.text, old.sign(new.text.encode()), new.text.encode())

    def test_twice_keeps_both_old_keys(self, folder: Path, key: PublicKey) -> None:
        rotate(folder, None, None)
        rotate(folder, None, None)
        assert len([path for path in folder.iterdir() if path.name.endswith(".old")]) == 2

    def test_new_key_is_sealed_with_the_new_passphrase(self, folder: Path) -> None:
        need_sealing()
        make_owner_key(folder, b"old")
        _, new = rotate(folder, b"old", b"new")
        assert load_signer(folder, b"new").public == new

    def test_it_is_recorded_while_the_old_key_is_still_in_place(self, folder: Path, key: PublicKey) -> None:
        seen: list[tuple[PublicKey | None, PublicKey, PublicKey]] = []

        def record(signer: Signer, new: PublicKey) -> None:
            seen.append((public_key(folder), signer.public, new))

        _, made = rotate(folder, None, None, record=record)
        assert seen == [(key, key, made)]
        assert public_key(folder) == made

    def test_refused_record_changes_nothing(self, folder: Path, key: PublicKey) -> None:
        before = contents(folder)

        def record(signer: Signer, new: PublicKey) -> None:
            raise TryAgain("busy", code="busy")

        with refused("busy"):
            rotate(folder, None, None, record=record)
        assert contents(folder) == before

    def test_new_key_is_not_lost_when_nobody_knows_whether_it_was_recorded(self, folder: Path, key: PublicKey) -> None:
        recorded: list[PublicKey] = []

        def record(signer: Signer, new: PublicKey) -> None:
            recorded.append(new)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            rotate(folder, None, None, record=record)
        assert load_signer(folder, None).public == key
        os.replace(folder / "owner.next", folder / "owner")
        assert load_signer(folder, None).public == recorded[0]

    def test_refusal_before_it_begins_changes_nothing(self, folder: Path, key: PublicKey) -> None:
        before = contents(folder)
        with refused("empty_passphrase"):
            rotate(folder, None, b"")
        assert contents(folder) == before
        with refused("no_key"):
            rotate(folder / "elsewhere", None, None)


class TestVerifying:
    def test_signature_holds_for_its_key_and_its_data_alone(self, folder: Path, key: PublicKey, tmp_path: Path) -> None:
        signature = load_signer(folder, None).sign(b"data")
        other = make_owner_key(tmp_path / "other", None)
        assert verify(key.text, signature, b"data")
        assert not verify(key.text, signature, b"data ")
        assert not verify(other.text, signature, b"data")
        assert not verify(key.text, signature[:-1], b"data")
        assert not verify(key.text, b"", b"data")
        assert not verify(key.text, bytes([signature[0] ^ 1]) + signature[1:], b"data")

    @pytest.mark.parametrize("text", ["", "junk", "ssh-ed25519 AAAA", "\ud800"])
    def test_what_is_no_key_verifies_nothing(self, text: str) -> None:
        assert not verify(text, b"\0" * 64, b"data")

    def test_key_of_another_kind_verifies_nothing(self) -> None:
        from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        text = generate_private_key(SECP256R1()).public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        assert not verify(text.decode(), b"\0" * 64, b"data")
