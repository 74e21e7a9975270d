"""Tests of `metrics`."""
