"""Tests of netwright.train.engines."""
