"""Tests of batches that a caller's own loader gives."""
