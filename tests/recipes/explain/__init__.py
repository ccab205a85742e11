"""Tests of netwright.recipes.explain."""
