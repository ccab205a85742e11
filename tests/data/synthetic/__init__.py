"""Tests of netwright.data.synthetic."""
