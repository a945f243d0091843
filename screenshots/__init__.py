"""Pictures of the workspace: seeded ledgers, a manifest of what is shown, and the drawing of both (`python3 dev.py shots`)."""
