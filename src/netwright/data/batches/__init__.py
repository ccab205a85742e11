"""Batches that a caller's own loader gives, taken as they are."""
