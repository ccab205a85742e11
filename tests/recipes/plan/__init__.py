"""Tests of netwright.recipes.plan."""
