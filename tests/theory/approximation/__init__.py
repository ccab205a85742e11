"""Tests of netwright.theory.approximation."""
