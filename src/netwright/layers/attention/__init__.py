"""Attention: scores, heads, masks, caches, positions and the transformer block."""
