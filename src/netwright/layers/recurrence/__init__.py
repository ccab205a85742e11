"""Recurrent layers: cells, stacks, linear recurrences and scans."""
