"""Tests of netwright.recipes.judging."""
