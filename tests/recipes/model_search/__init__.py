"""Tests of searching over models."""
