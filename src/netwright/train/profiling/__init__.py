"""Where the time and the memory of an update go, measured on a few updates of a run."""
