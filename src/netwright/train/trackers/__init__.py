"""Trackers: a run, written as other packages read it, in its own folder."""
