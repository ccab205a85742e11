"""A run in memory: what it answers, generates, shows and reports."""
