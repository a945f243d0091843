"""One module a pane: which reads it makes, how its list and detail are built, which actions are its own."""
