"""Tests of netwright.theory.sequences."""
