"""Entries of the views of what a model says."""
