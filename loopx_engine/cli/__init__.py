"""How people and scripts call the engine: `loopx` and `loopx-engine`."""
