"""A record of the numbers that Lanner gives for fixed seeds."""
