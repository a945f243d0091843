"""The demo: one goal on a real git project, from its first red check to proven done, in a temporary folder."""
