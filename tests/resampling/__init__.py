"""Tests of `resampling`."""
