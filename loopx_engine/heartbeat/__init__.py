"""What moves: the engine's threads. They look at goals when woken, start turns, prove claims and carry out effects."""
