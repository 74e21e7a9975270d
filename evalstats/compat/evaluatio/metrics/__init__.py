"""Metrics and what can be inferred about them."""
