"""Tests of netwright.optimizers."""
