"""Entries of the views of what happens inside a model."""
