"""What a test set can find, and how large it would have to be."""
