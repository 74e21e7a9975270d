"""Several answers to each item: pass^k, pass@k, flips, and which items changed."""
