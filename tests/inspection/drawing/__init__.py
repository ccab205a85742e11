"""Tests of netwright.inspection.drawing."""
