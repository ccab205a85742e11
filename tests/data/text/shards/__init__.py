"""Tests of corpora as token files."""
