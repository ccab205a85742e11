"""Tests of netwright.recipes.doctor."""
