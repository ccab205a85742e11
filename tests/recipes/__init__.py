"""Tests of recipes: from a model and data to a run, and what a run can do."""
