"""The standing ladder: owners and their tokens, what they send in, and what they are told."""
