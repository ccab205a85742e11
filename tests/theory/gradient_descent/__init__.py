"""Tests of netwright.theory.gradient_descent."""
