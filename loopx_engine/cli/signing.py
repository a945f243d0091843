"""Signing a person's command: preview, consent in a terminal, the key, and an act bound to exactly what was shown."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from loopx_engine.consent.keys import Signer, load_signer, public_key, sealed
from loopx_engine.consent.unlock import read_passphrase_fd
from loopx_engine.errors import Refused
from loopx_engine.host.paths import key_folder

if TYPE_CHECKING:
    from loopx_engine.cli.local import LocalCaller


def signer_of(caller: LocalCaller) -> Signer:
    """The owner's key, unsealed. In a terminal the first signed command offers to make it; elsewhere it must exist."""
    folder = key_folder(caller.environ)
    if public_key(folder) is None:
        _offer_key(caller)
    return load_signer(folder, passphrase_of(caller, "passphrase of the owner key") if sealed(folder) else None)


def passphrase_of(caller: LocalCaller, prompt: str, *, confirm: bool = False) -> bytes | None:
    """From `LOOPX_PASSPHRASE_FD`, else typed in a terminal without echo. Refuses (`locked`) where neither is there."""
    given = read_passphrase_fd(caller.environ)
    if given is not None:
        return given
    if not in_terminal():
        raise Refused(
            "the owner key is sealed and no passphrase was given",
            code="locked",
            next="run it in a terminal, or name a descriptor in LOOPX_PASSPHRASE_FD",
        )
    typed = str(
        click.prompt(prompt, hide_input=True, confirmation_prompt=confirm, err=True, default="", show_default=False)
    )
    return typed.encode() or None


def in_terminal() -> bool:
    """Whether a person can be asked here."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _offer_key(caller: LocalCaller) -> None:
    missing = Refused("there is no owner key yet", code="no_key", next="loopx owner init")
    if not in_terminal():
        raise missing
    click.echo("This is a signed command, and there is no owner key yet.", err=True)
    if not click.confirm("Make it now?", default=True, err=True):
        raise missing
    from loopx_engine.cli.owner import init_owner

    init_owner(caller, no_passphrase=False)
