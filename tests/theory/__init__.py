"""Tests of netwright.theory."""
