"""Tests of models of words."""
