"""Tests of netwright.recipes.fitting."""
