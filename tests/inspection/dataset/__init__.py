"""Tests of netwright.inspection.dataset."""
