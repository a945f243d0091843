"""What the screens say, as plain values: no Textual here, so that all of it is tested without a terminal."""
