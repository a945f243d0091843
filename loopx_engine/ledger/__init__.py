"""Where it stays: the Ledger protocol, its SQLite store, the journal, migrations, backup and verification."""
