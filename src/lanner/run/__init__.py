"""A whole run: its settings, its store of toys, and the path from two samples to a verdict."""
