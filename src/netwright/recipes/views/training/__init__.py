"""Entries of the views of how a model was trained."""
