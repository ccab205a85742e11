"""Tests of netwright.inspection.attribution."""
