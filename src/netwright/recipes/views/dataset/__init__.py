"""Entries of the views of the data that a model learns from."""
