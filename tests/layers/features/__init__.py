"""Tests of netwright.layers.features."""
