"""Tests of netwright.train.saving."""
