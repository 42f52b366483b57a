"""An event of a ladder: announced, paired, played."""
