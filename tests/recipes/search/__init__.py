"""Tests of searching."""
