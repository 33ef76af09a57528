"""What a dry run says of uncertainties."""

import numpy as np
import pytest

import lanner
from lanner.errors import InputError, UncertaintyWarning
from lanner.uncertainties.declared import Uncertainty

RNG = np.random.default_rng(1)
R, D = RNG.exponential(size=(8000, 1)), RNG.exponential(size=(205, 1))
HALF = np.arange(8000) < 4000


def test_each_is_described_and_costs_what_it_has_to_learn() -> None:
    known: list[Uncertainty] = [
        lanner.Normalisation("lumi", 0.03),
        lanner.KnownRatio("scale", lambda x, nu: 0.01 * nu * x[:, 0]),
    ]
    learned: list[Uncertainty] = [
        lanner.Weights("pdf", up=np.full(8000, 1.05)),
        lanner.Shifted("jes", up=R * 1.01, down=R[:7000] * 0.99, down_yield=0.98),
        lanner.Process("tt", 0.06, label=HALF),
    ]
    found = lanner.dry_run(R, D, expected=200, uncertainties=known + learned)
    assert found.uncertainties == (
        ("lumi", "normalisation, 3 %"),
        ("scale", "a known function"),
        ("pdf", "event weights, yield +5.00 %, mirrored"),
        ("jes", "samples of 8000 events and 7000 events, yield +0.00 % and -2.00 %"),
        ("tt", "a process with 50 % of the yield, known to 6 %"),
    )
    assert found.learning_seconds > 0
    assert "pdf: event weights" in str(found)
    exact = lanner.dry_run(R, D, expected=200, uncertainties=known)
    assert exact.learning_seconds == 0
    assert "uncertainties" in str(lanner.dry_run(R, D, expected=200))


def test_what_a_search_refuses_a_dry_run_refuses() -> None:
    lumi = lanner.Normalisation("lumi", 0.03)
    with pytest.raises(InputError, match="relabels reference and data"):
        lanner.dry_run(R, D, expected=200, null="permutation", uncertainties=[lumi])
    with pytest.raises(InputError, match="more than one uncertainty is called 'lumi'"):
        lanner.dry_run(R, D, expected=200, uncertainties=[lumi, lumi])
    with pytest.warns(UncertaintyWarning, match="'lumi' has the size 0: it is left out"):
        assert lanner.dry_run(R, D, expected=200, uncertainties=[lanner.Normalisation("lumi", 0)]).uncertainties == ()
