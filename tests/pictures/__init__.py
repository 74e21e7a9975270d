"""Tests of `pictures`."""
