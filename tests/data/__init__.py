"""Tests of netwright.data."""
