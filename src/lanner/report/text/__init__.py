"""Results in words, numbers and tables."""
