"""Tests of `compat`."""
