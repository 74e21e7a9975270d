"""Drop-in replacements for the peers: change the import, keep the numbers."""
