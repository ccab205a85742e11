"""Tests of the commands for training that outgrows a machine or its memory."""
