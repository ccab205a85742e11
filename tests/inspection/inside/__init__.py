"""Tests of netwright.inspection.inside."""
