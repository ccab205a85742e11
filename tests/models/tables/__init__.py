"""Tests of the networks for tables."""
