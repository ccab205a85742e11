"""Tests of the misprints, one file a family of formulas."""
