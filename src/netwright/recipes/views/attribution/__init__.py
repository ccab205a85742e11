"""Entries of the views of what an answer depends on."""
