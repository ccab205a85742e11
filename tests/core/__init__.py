"""Tests of netwright.core."""
