"""Tests of netwright.data.loading."""
