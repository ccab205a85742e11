"""Tests of netwright.testing."""
