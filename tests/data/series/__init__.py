"""Tests of series as data."""
