"""The workspace: one screen over the ledger. Not built yet; until it is, `loopx` without words answers as `loopx status`."""
