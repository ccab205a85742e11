"""Tests of text for pre-training."""
