"""What a test set can find, and how large one would have to be."""
