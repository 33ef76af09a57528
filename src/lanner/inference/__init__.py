"""From a statistic to a significance: toys, calibration and the analytic null."""

from lanner.inference.analytic import analytic_null
from lanner.inference.weighted_chi2 import WeightedChi2

__all__ = ["WeightedChi2", "analytic_null"]
