"""Tests of netwright.data.captions."""
