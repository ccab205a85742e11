"""Tests of netwright.layers.attention."""
