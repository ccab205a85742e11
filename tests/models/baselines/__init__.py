"""Tests of netwright.models.baselines."""
