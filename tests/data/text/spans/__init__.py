"""Tests of questions and spans."""
