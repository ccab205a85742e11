"""Tests of netwright.train.tasks."""
