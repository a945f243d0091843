"""The only code that speaks to the engine: its own threads, the change feed, the dispatch of commands."""
