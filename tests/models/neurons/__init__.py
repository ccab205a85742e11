"""Tests of netwright.models.neurons."""
