"""The studio: the runs of a folder in a browser."""
