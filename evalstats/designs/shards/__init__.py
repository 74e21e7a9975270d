"""A corpus in many places: resamples of its parts, merged."""
