"""Tests of netwright.theory.regularisation."""
