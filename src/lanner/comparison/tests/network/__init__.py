"""The neural-network version of the test."""

from lanner.comparison.tests.network.neural_test import PUBLISHED, Network, tune_clip

__all__ = ["PUBLISHED", "Network", "tune_clip"]
