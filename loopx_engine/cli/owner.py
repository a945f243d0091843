"""`loopx owner init | protect | rotate`: the owner's key on disk, and its public half in the ledger."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.cli.signing import in_terminal, make_proof, passphrase_of
from loopx_engine.consent.keys import load_signer, make_owner_key, protect, public_key, rotate, sealed
from loopx_engine.errors import Refused
from loopx_engine.host.paths import key_folder

if TYPE_CHECKING:
    from loopx_engine.cli.local import LocalCaller


def init_owner(caller: LocalCaller, *, no_passphrase: bool) -> dict[str, Any]:
    """Makes the key (sealed unless said otherwise), or enters the one that is there into this ledger."""
    folder = key_folder(caller.environ)
    existing = public_key(folder)
    passphrase: bytes | None = None
    if existing is None:
        if not no_passphrase:
            passphrase = passphrase_of(caller, "passphrase for the owner key (empty: none)", confirm=True)
        existing = make_owner_key(folder, passphrase)
    elif sealed(folder):
        passphrase = passphrase_of(caller, "passphrase of the owner key")
    who = caller.who(writing=True)
    signer = load_signer(folder, passphrase)
    arguments = {"public_key": existing.text}
    identifier = f"c{secrets.token_hex(8)}"
    preview = caller.engine.preview("owner init", arguments, who)
    proof = make_proof(caller.engine, signer, "owner init", preview.arguments, preview.basis, who, identifier)
    answer = caller.engine.run("owner init", arguments, who, command_id=identifier, proof=proof)
    return {"key": existing.id, "strength": signer.strength, "receipt": answer.receipts[0].id}


def local() -> LocalCaller:
    """The caller on the ledger. Refuses inside a box."""
    from loopx_engine.cli.caller import caller
    from loopx_engine.cli.local import LocalCaller

    found = caller()
    if not isinstance(found, LocalCaller):
        raise Refused("this is a person's command", code="inside_turn", next="run it from a terminal of your own")
    return found


def owner_init() -> click.Command:
    """`loopx owner init`."""

    @click.command("init", help="Make the owner key and enter it into the ledger.")
    @click.option("--no-passphrase", is_flag=True, help="leave the key unsealed")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(no_passphrase: bool, as_json: bool) -> None:
        made = init_owner(local(), no_passphrase=no_passphrase)
        if as_json:
            print_json("owner.init", made)
            return
        print_line(f"owner key {made['key']} ({made['strength']})   {made['receipt']}")

    return command


def owner_protect() -> click.Command:
    """`loopx owner protect`."""

    @click.command("protect", help="Seal the owner key with a passphrase, or change it.")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(as_json: bool) -> None:
        caller = local()
        folder = key_folder(caller.environ)
        if not in_terminal():
            raise Refused("a passphrase is typed in a terminal", code="no_terminal", next="run it in a terminal")
        old = passphrase_of(caller, "passphrase now") if sealed(folder) else None
        new = passphrase_of(caller, "new passphrase", confirm=True)
        protect(folder, old, new)
        print_json("owner.protect", {"sealed": bool(new)}) if as_json else print_line("the owner key is sealed" if new else "the owner key is open")

    return command


def owner_rotate() -> click.Command:
    """`loopx owner rotate`."""

    @click.command("rotate", help="Replace the owner key; the old one signs the new one.")
    @click.option("--no-passphrase", is_flag=True, help="leave the new key unsealed")
    @click.option("--json", "as_json", is_flag=True, help="one JSON object")
    def command(no_passphrase: bool, as_json: bool) -> None:
        caller = local()
        folder = key_folder(caller.environ)
        old = passphrase_of(caller, "passphrase now") if sealed(folder) else None
        new = None if no_passphrase else passphrase_of(caller, "passphrase of the new key", confirm=True)
        who = caller.who(writing=True)
        engine = caller.engine
        signer, made = rotate(folder, old, new)
        arguments = {"public_key": made.text}
        identifier = f"c{secrets.token_hex(8)}"
        keep = engine.owner_key
        engine.owner_key = lambda: (signer.public.id, signer.public.text)
        preview = engine.preview("owner rotate", arguments, who)
        proof = make_proof(engine, signer, "owner rotate", preview.arguments, preview.basis, who, identifier)
        answer = engine.run("owner rotate", arguments, who, command_id=identifier, proof=proof)
        engine.owner_key = keep
        if as_json:
            print_json("owner.rotate", {"key": made.id, "receipt": answer.receipts[0].id})
            return
        print_line(f"new owner key {made.id}   {answer.receipts[0].id}")

    return command
