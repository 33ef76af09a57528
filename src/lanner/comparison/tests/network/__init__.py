"""The neural-network version of the test."""
