"""Tests of `text`."""
