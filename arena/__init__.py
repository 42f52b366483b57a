"""The arena: a referee and a rated ladder for Hokm bots."""

__version__ = "0.1.0"
