"""Tests of `statistics`."""
