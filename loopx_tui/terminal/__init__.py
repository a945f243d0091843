"""What depends on the terminal this runs in."""
