"""Differences within strata, over them, and whether they are alike."""
