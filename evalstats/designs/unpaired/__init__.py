"""Systems that each have segments of their own."""
