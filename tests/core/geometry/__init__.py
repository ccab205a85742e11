"""Tests of netwright.core.terminal."""
