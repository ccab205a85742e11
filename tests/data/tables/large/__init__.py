"""Tests of tables larger than memory."""
