"""What must hold: pure functions over values. No clock, no I/O, no ledger."""
