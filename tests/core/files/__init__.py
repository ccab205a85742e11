"""Tests of netwright.core.files."""
