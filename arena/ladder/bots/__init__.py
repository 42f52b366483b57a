"""Bots as files: bundles, archives, manifests, frozen copies, environments."""
