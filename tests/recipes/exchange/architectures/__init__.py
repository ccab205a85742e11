"""Tests of runs that are exported, and of weights that are imported as runs."""
