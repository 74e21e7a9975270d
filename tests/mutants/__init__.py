"""One-line changes of the library, each of which breaks a promise: tests that miss one are weak."""
