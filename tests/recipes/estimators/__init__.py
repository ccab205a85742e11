"""Tests of netwright.recipes.estimators."""
