"""What may be wrong with data before anything learns from it: one kind of check a file."""
