"""The tests by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lanner.comparison.protocol import Test
from lanner.comparison.tests.chi2 import BinnedChi2
from lanner.comparison.tests.classifier import Classifier
from lanner.comparison.tests.kernel import Kernel
from lanner.comparison.tests.kolmogorov_smirnov import KolmogorovSmirnov
from lanner.comparison.tests.network.neural_test import Network
from lanner.comparison.tests.network.torch_module import need_torch
from lanner.comparison.tests.pairwise import MMD, Energy
from lanner.errors import InputError

SUPERVISED = "supervised"  # made for each signal
TESTS: dict[str, Callable[[], Test]] = {
    "score": lambda: Kernel("score"),
    "likelihood-ratio": lambda: Kernel("likelihood-ratio", {"statistic": "likelihood-ratio"}),
    "one-width": lambda: Kernel("one-width", {"width": "auto"}),
    "network": Network,
    "classifier-auc": lambda: Classifier("auc"),
    "classifier-balanced-accuracy": lambda: Classifier("balanced-accuracy"),
    "classifier-likelihood-ratio": lambda: Classifier("likelihood-ratio"),
    "mmd": MMD,
    "energy": Energy,
    "ks": KolmogorovSmirnov,
    "chi2": BinnedChi2,
}
NAMES = (*TESTS, SUPERVISED)
WORDS = {
    "score": "Lanner's own: the default of search",
    "likelihood-ratio": "Lanner's own: the likelihood ratio at several widths",
    "one-width": "the likelihood ratio at the paper's width",
    "network": "the neural network of the original proposal (needs torch)",
    "classifier-auc": "boosted trees trained on half of the events: area under their ROC curve on the other half",
    "classifier-balanced-accuracy": "the same trees: the mean share of right calls of both kinds",
    "classifier-likelihood-ratio": "the same trees: the likelihood ratio that they give",
    "mmd": "maximum mean discrepancy with the Gaussian kernel of the paper's width",
    "energy": "energy distance",
    "ks": "Kolmogorov-Smirnov on each feature, corrected for their number",
    "chi2": "Pearson's chi2 in equally populated cells that the reference decides",
    SUPERVISED: "boosted trees that learn the signal itself: what a dedicated search would find",
}
# What is there without torch and done within minutes.
DEFAULT = ("score", "likelihood-ratio", "classifier-auc", "mmd", "energy", "ks", "chi2", SUPERVISED)


def named_tests(tests: Sequence[str | Test]) -> list[str | Test]:
    """Names become tests, but for the supervised one, which needs a signal."""
    found: list[str | Test] = []
    for test in tests:
        if isinstance(test, str) and test != SUPERVISED:
            if test not in TESTS:
                raise InputError(f"test {test!r} is not known; choose from {', '.join(NAMES)}")
            found.append(TESTS[test]())
        else:
            found.append(test)
    names = [test if isinstance(test, str) else test.name for test in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice or not names:
        raise InputError(f"tests={names}: give at least one, and each under a name of its own")
    if any(isinstance(test, Network) for test in found):
        need_torch()  # refused before any toy is made
    return found
