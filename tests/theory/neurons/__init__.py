"""Tests of netwright.theory.neurons."""
