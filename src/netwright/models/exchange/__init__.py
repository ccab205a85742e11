"""Weights of other libraries, and ours for them: names matched, shapes checked."""
