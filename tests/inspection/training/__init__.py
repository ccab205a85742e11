"""Tests of netwright.inspection.training."""
