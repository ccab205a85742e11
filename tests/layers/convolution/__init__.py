"""Tests of netwright.layers.convolution."""
