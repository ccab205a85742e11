"""Tests of the ready-made recipes."""
