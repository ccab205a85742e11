"""Tests of weights that come from other libraries."""
