"""The place of each system, with its interval."""
