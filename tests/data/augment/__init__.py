"""Tests of augmentation."""
