"""What `inspect` can show of a run: a table of views, each with what it needs and what it takes."""
