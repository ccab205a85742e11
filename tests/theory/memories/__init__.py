"""Tests of netwright.theory.memories."""
