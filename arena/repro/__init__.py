"""A bot in a match that was recorded: told again what it was told, and held to what it did."""
