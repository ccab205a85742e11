"""Tests of netwright.recipes.saved."""
