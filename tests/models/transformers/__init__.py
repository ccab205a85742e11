"""Tests of the transformers."""
