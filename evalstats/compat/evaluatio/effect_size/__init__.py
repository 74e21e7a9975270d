"""Effect sizes."""
