"""Tests of netwright.models."""
