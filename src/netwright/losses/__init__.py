"""Losses: how far outputs are from targets, and what else is to be small."""
