"""What the decisions of a recorded match cost: against open cards, and against what was known."""
