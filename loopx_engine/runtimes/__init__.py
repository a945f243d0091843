"""Who works: adapters that start a runtime's process for one turn and speak its protocol."""
