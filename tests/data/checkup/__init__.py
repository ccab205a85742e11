"""Checks of data, each against a planted illness and against healthy data."""
