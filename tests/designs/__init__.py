"""Tests of `designs`."""
