"""Search over models: which of them learns a table best, and what they say together."""
