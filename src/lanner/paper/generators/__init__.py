"""Collisions made with Pythia 8: processes, particles, detector, units."""
