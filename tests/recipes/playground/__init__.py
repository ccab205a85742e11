"""Tests of netwright.recipes.playground."""
