"""Tests of your own tables."""
