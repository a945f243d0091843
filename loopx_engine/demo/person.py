"""The demo's person: signs with a throw-away key that exists only for this run, and says so."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from loopx_engine.consent.keys import load_signer, make_owner_key
from loopx_engine.desk.signing import make_proof
from loopx_engine.engine import Answer, Engine


class Person:
    """Says commands as the ledger's owner; `signed` ones with the key in `keys`."""

    def __init__(self, engine: Engine, keys: Path) -> None:
        self.engine = engine
        public = make_owner_key(keys, None)
        self._signer = load_signer(keys, None)
        self.signs("owner init", public_key=public.text)

    def says(self, verb: str, **arguments: Any) -> Answer:
        """An unsigned command."""
        return self.engine.run(verb, arguments, self.engine.identify(None))

    def signs(self, verb: str, **arguments: Any) -> Answer:
        """A signed one: previewed, bound to that preview, signed, run."""
        who = self.engine.identify(None)
        command = f"c{secrets.token_hex(8)}"
        preview = self.engine.preview(verb, arguments, who)
        basis = str(preview.arguments["basis"]) if verb == "decision answer" else preview.basis
        proof = make_proof(self.engine, self._signer, verb, preview.arguments, basis, who, command)
        return self.engine.run(verb, arguments, who, command_id=command, proof=proof)
