"""Tests of images from files."""
