"""Networks made for the columns of a table."""
