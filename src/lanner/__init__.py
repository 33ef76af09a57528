"""Lanner: does the data follow the reference model, how surely, and where does it depart from it?"""

from lanner.events import Sample, Scaling
from lanner.inference import WeightedChi2, analytic_null
from lanner.model.estimator import LogRatioClassifier
from lanner.model.fit import fit_ratio
from lanner.model.ratio import LearnedRatio

__version__ = "0.1.0"
__all__ = ["LearnedRatio", "LogRatioClassifier", "Sample", "Scaling", "WeightedChi2", "analytic_null", "fit_ratio"]
