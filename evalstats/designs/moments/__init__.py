"""Sums that a data base makes, in place of segments."""
