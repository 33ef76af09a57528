"""The tests that can be compared, one a file."""
