"""Tests of netwright.train.updates."""
