"""Tests of `questions`."""
