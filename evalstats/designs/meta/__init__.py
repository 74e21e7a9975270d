"""Metrics held against people: which of them ranks systems, or outputs, as people do."""
