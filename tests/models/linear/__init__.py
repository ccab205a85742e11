"""Tests of netwright.models.linear."""
