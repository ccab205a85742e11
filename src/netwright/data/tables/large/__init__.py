"""Tables larger than memory: read in parts, encoded once, and trained on from disk."""
