"""Tests of what changes batches."""
