"""A run in the files of other tools, compared with the run before they count; theirs as a run."""
