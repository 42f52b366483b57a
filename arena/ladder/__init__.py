"""The ladder: who plays whom, what the results say, and how it is kept."""
