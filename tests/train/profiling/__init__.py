"""Tests of netwright.train.profiling."""
