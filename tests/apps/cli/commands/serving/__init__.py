"""Tests of the commands that serve."""
