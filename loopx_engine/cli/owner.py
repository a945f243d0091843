"""`loopx owner init | protect | rotate`: the owner's key on disk, and its public half in the ledger."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import click

from loopx_engine.cli.output import print_json, print_line
from loopx_engine.cli.preview import print_plan
from loopx_engine.cli.signing import in_terminal, passphrase_of
from loopx_engine.cli.verbs import dry_run_option, json_option
from loopx_engine.consent.keys import load_signer, make_owner_key, protect, public_key, rotate, sealed
from loopx_engine.consent.unlock import VARIABLE
from loopx_engine.desk.signing import make_proof
from loopx_engine.errors import NotFound, Refused
from loopx_engine.host.paths import key_folder

if TYPE_CHECKING:
    from loopx_engine.cli.local import LocalCaller
    from loopx_engine.consent.keys import PublicKey, Signer


def init_owner(caller: LocalCaller, *, no_passphrase: bool) -> dict[str, Any]:
    """Makes the key (sealed unless said otherwise), or enters the one that is there into this ledger."""
    for_a_person(caller)
    folder = key_folder(caller.environ)
    existing = public_key(folder)
    passphrase: bytes | None = None
    if existing is None:
        if not no_passphrase:
            passphrase = passphrase_of(caller, "passphrase for the owner key (empty: none)", confirm=True)
        existing = make_owner_key(folder, passphrase)
    elif sealed(folder):
        passphrase = passphrase_of(caller, "passphrase of the owner key")
    signer = load_signer(folder, passphrase)
    receipt = _signed(caller, signer, "owner init", existing.text)
    return {"key": existing.id, "strength": signer.strength, "receipt": receipt}


def local() -> LocalCaller:
    """The caller on the ledger. Refuses inside a box."""
    from loopx_engine.cli.caller import caller
    from loopx_engine.cli.local import LocalCaller

    found = caller()
    if not isinstance(found, LocalCaller):
        raise Refused("this needs the ledger, which is not in the box of a turn", code="inside_turn", next="loopx next")
    return found


def for_a_person(caller: LocalCaller) -> None:
    """Refuses agents and descendants of turns before anything is made or asked."""
    who = caller.who(writing=True)
    if not who.person:
        raise Refused(
            "the owner's key is for the owner", code="not_for_agents", next="loopx decision ask GOAL QUESTION"
        )
    if who.ancestor:
        raise Refused(
            f"this process runs inside {who.ancestor}; a person's commands are not taken from there",
            code="inside_turn",
            next="run it from a terminal of your own",
        )


def owner_init() -> click.Command:
    """`loopx owner init`."""

    @click.command("init", help="Make the owner key and enter it into the ledger.")
    @click.option("--no-passphrase", is_flag=True, help="leave the key unsealed")
    def command(no_passphrase: bool, dry_run: bool, as_json: bool) -> None:
        if dry_run:
            folder = key_folder(local().environ)
            acts = [] if public_key(folder) else [f"make an Ed25519 key in {folder}"]
            print_plan("owner init", {}, [], as_json=as_json, risk="high", authority=["signed"],
                       acts=[*acts, "enter its public half into the ledger"])  # fmt: skip
            return
        made = init_owner(local(), no_passphrase=no_passphrase)
        if as_json:
            print_json("owner.init", made)
            return
        print_line(f"owner key {made['key']} ({made['strength']})   {made['receipt']}")

    command.params += [dry_run_option(), json_option()]
    return command


def owner_protect() -> click.Command:
    """`loopx owner protect`."""

    @click.command("protect", help="Seal the owner key with a passphrase, or change it.")
    def command(dry_run: bool, as_json: bool) -> None:
        caller = local()
        for_a_person(caller)
        folder = key_folder(caller.environ)
        if public_key(folder) is None:
            raise NotFound("there is no owner key yet", code="no_key", next="loopx owner init")
        if dry_run:
            acts = [f"seal the key in {folder} with a passphrase"]
            print_plan("owner protect", {}, [], as_json=as_json, risk="high", authority=["signed"], acts=acts)
            return
        if not in_terminal() and (sealed(folder) or not caller.environ.get(VARIABLE)):
            raise Refused("a passphrase is typed in a terminal", code="no_terminal", next="run it in a terminal")
        old = passphrase_of(caller, "passphrase now") if sealed(folder) else None
        new = passphrase_of(caller, "new passphrase (empty: none)", confirm=True)
        protect(folder, old, new)
        if as_json:
            print_json("owner.protect", {"sealed": bool(new)})
            return
        print_line("the owner key is sealed" if new else "the owner key is open")

    command.params += [dry_run_option(), json_option()]
    return command


def owner_rotate() -> click.Command:
    """`loopx owner rotate`."""

    @click.command("rotate", help="Replace the owner key; the old one signs the new one.")
    @click.option("--no-passphrase", is_flag=True, help="leave the new key unsealed")
    def command(no_passphrase: bool, dry_run: bool, as_json: bool) -> None:
        caller = local()
        for_a_person(caller)
        folder = key_folder(caller.environ)
        if dry_run:
            acts = [
                f"make a new Ed25519 key in {folder}, the old one kept beside it",
                "enter its public half, signed by the old",
            ]
            print_plan("owner rotate", {}, [], as_json=as_json, risk="high", authority=["signed"], acts=acts)
            return
        old = passphrase_of(caller, "passphrase now") if sealed(folder) else None
        new = None if no_passphrase else passphrase_of(caller, "passphrase of the new key", confirm=True)
        receipts: list[str] = []

        def record(signer: Signer, made: PublicKey) -> None:
            receipts.append(_signed(caller, signer, "owner rotate", made.text))

        _, made = rotate(folder, old, new, record=record)
        if as_json:
            print_json("owner.rotate", {"key": made.id, "receipt": receipts[0]})
            return
        print_line(f"new owner key {made.id}   {receipts[0]}")

    command.params += [dry_run_option(), json_option()]
    return command


def _signed(caller: LocalCaller, signer: Signer, verb: str, public_text: str) -> str:
    """Enters a public key by an act of this signer; returns the receipt's id."""
    who, engine = caller.who(writing=True), caller.engine
    arguments = {"public_key": public_text}
    identifier = f"c{secrets.token_hex(8)}"
    preview = engine.preview(verb, arguments, who)
    proof = make_proof(engine, signer, verb, preview.arguments, preview.basis, who, identifier)
    return engine.run(verb, arguments, who, command_id=identifier, proof=proof).receipts[0].id
