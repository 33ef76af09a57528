"""A whole run: its preparation, its store of toys, and the path from two samples to a verdict."""
