"""The desk of a person: everything a person's surface may do with a ledger. The command line and the workspace sit at it."""
