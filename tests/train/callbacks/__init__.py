"""Tests of netwright.train.callbacks."""
