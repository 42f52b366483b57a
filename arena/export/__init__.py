"""What the arena knows, as tables for other programs."""
