"""Tests of netwright.models.memory."""
