"""Tests of what stands in the columns of frames."""
