"""Searching settings: trials of a recipe in a study that several processes share."""
