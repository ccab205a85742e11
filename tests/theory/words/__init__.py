"""Tests of claims about words."""
