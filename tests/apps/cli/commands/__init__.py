"""Tests of netwright.apps.cli.commands."""
