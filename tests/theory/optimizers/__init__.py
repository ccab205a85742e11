"""Tests of netwright.theory.optimizers."""
