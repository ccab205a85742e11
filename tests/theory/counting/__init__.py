"""Tests of netwright.theory.counting."""
