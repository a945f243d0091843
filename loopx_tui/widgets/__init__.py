"""What paints: the one virtual list, and the lines around it."""
