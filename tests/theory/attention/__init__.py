"""Tests of netwright.theory.attention."""
