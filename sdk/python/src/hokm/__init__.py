"""The card game Hokm: cards, rules, views, records, and the client a bot plays with."""

__version__ = "0.1.0"
