"""Tests of netwright.data.files."""
