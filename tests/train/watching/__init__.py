"""Tests of netwright.train.watching."""
