"""Tests of netwright.inspection.predictions."""
