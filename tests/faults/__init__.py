"""Faults made on purpose, end to end, with counted figures: `python -m tests.faults`."""
