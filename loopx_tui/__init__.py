"""The workspace: one screen over the ledger, driven by keys. It holds no rule of its own; the engine says what may happen."""
