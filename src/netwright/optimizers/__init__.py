"""Optimizers and schedules: torch's own, found by name."""
