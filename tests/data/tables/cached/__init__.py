"""Tests of tables in the cache."""
