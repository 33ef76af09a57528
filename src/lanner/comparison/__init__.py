"""What one would use instead: each test takes the same toys and gives each a statistic, so that all can be compared."""

from lanner.comparison.compare import Comparison, compare
from lanner.comparison.protocol import Arena, Statistics, Test
from lanner.comparison.registry import DEFAULT, NAMES
from lanner.comparison.tests.chi2 import BinnedChi2
from lanner.comparison.tests.classifier import Classifier, ClassifierResult, classifier_test
from lanner.comparison.tests.kernel import Kernel
from lanner.comparison.tests.kolmogorov_smirnov import KolmogorovSmirnov
from lanner.comparison.tests.network.neural_test import PUBLISHED, Network, tune_clip
from lanner.comparison.tests.pairwise import MMD, Energy
from lanner.comparison.tests.supervised import KnownRatio, Supervised

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
