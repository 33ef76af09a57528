"""Plots of a search and the figures of its report."""
