"""Questions whose answers are spans of a text."""
