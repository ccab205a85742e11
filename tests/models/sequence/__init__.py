"""Tests of the models of sequences."""
