"""What one would use instead: each test takes the same toys and gives each a statistic, so that all can be compared."""

from lanner.comparison.compare import compare
from lanner.comparison.protocol import Statistics, Test
from lanner.comparison.registry import DEFAULT, NAMES
from lanner.comparison.table import Comparison
from lanner.comparison.tests.chi2 import BinnedChi2
from lanner.comparison.tests.classifier import Classifier, ClassifierResult, classifier_test
from lanner.comparison.tests.kernel import Kernel
from lanner.comparison.tests.kolmogorov_smirnov import KolmogorovSmirnov
from lanner.comparison.tests.network import PUBLISHED, Network, tune_clip
from lanner.comparison.tests.pairwise import MMD, Energy
from lanner.comparison.tests.supervised import KnownRatio, Supervised
from lanner.comparison.toy_pool import ToyPool

__all__ = [
    "DEFAULT",
    "MMD",
    "NAMES",
    "PUBLISHED",
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
    "ToyPool",
    "classifier_test",
    "compare",
    "tune_clip",
]
