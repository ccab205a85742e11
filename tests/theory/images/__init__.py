"""Tests of netwright.theory.images."""
