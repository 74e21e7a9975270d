"""Tests of `inference`."""
