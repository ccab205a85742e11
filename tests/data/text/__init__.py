"""Tests of text as data."""
