"""Tests of netwright.theory.networks."""
