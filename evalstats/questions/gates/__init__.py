"""Is it good enough: a comparison with a limit and a verdict."""
