"""Tests of netwright.layers."""
