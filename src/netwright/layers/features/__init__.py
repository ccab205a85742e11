"""Numbers and categories of a table as vectors."""
