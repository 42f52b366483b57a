"""Tuning: better values for the numbers that a bot leaves open, found by playing."""
