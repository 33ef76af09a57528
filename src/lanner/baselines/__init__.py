"""What one would use instead: each test takes the same toys and gives each a statistic, so that all can be compared."""

from lanner.baselines.arena import Arena, Statistics, Test
from lanner.baselines.binned import BinnedChi2
from lanner.baselines.classifier import Classifier, ClassifierResult, classifier_test
from lanner.baselines.comparison import Comparison, compare
from lanner.baselines.known import KnownRatio, Supervised
from lanner.baselines.marginal import KolmogorovSmirnov
from lanner.baselines.network import PUBLISHED, Network, tune_clip
from lanner.baselines.own import Kernel
from lanner.baselines.pairwise import MMD, Energy
from lanner.baselines.registry import DEFAULT, NAMES

__all__ = [
    "DEFAULT",
    "MMD",
    "NAMES",
    "PUBLISHED",
    "Arena",
    "BinnedChi2",
    "Classifier",
    "ClassifierResult",
    "Comparison",
    "Energy",
    "Kernel",
    "KnownRatio",
    "KolmogorovSmirnov",
    "Network",
    "Statistics",
    "Supervised",
    "Test",
    "classifier_test",
    "compare",
    "tune_clip",
]
