"""One match: planned, played, judged."""
