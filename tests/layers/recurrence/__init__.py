"""Tests of netwright.layers.recurrence."""
