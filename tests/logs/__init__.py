"""Tests of `logs`."""
