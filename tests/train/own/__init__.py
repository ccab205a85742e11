"""Tests of netwright.train.own."""
