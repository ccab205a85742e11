"""Figures in the plane: what they share, and which belong together."""
