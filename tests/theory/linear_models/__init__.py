"""Tests of netwright.theory.linear_models."""
