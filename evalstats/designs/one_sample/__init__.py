"""A score held against a fixed number: at least 0.9, or at most 5."""
