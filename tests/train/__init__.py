"""Tests of netwright.train."""
