"""Tests of netwright.recipes.run."""
