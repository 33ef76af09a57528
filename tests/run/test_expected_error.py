"""The statistical error of what the weights expect is one more uncertainty, where there are others."""

from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.run.expected_error import NAME, with_expected_error

LUMI = lanner.Normalisation("lumi", 0.02)


def sample(n: int = 4000, total: float = 200.0) -> lanner.Sample:
    rng = np.random.default_rng(1)
    w = rng.uniform(0.5, 1.5, n)
    return lanner.Sample.of(rng.exponential(size=(n, 1)), weights=w * (total / w.sum()))


def test_it_has_the_size_that_the_weights_give() -> None:
    reference = sample()
    expected, (first, second) = with_expected_error("weights", reference, [LUMI])
    assert expected == pytest.approx(200)
    assert first is LUMI
    assert second.name == NAME
    assert second.size == pytest.approx(reference.worth**-0.5)


def test_nothing_changes_without_uncertainties_or_with_a_number() -> None:
    given: list[tuple[Any, Any]] = [("weights", []), (200.0, [LUMI]), (None, [LUMI])]
    for expected, uncertainties in given:
        assert with_expected_error(expected, sample(), uncertainties) == (expected, uncertainties)


def test_its_name_is_taken() -> None:
    with pytest.raises(InputError, match="another name"):
        with_expected_error("weights", sample(), [lanner.Normalisation(NAME, 0.1)])


def test_a_search_and_its_dry_run_have_it() -> None:
    reference, data = sample(4000, 100), np.random.default_rng(2).exponential(size=(80, 1))
    settings: dict[str, Any] = {"seed": 1, "toys": 90}
    found = lanner.search(reference, data, expected="weights", uncertainties=[LUMI], **settings)
    by_hand = lanner.search(
        reference,
        data,
        expected=reference.total_weight,
        uncertainties=[LUMI, lanner.Normalisation(NAME, reference.worth**-0.5)],
        **settings,
    )
    made = lanner.dry_run(reference, data, expected="weights", uncertainties=[LUMI], **settings)
    assert [one.name for one in found.nuisances] == ["lumi", NAME]
    np.testing.assert_allclose(found.null.statistics, by_hand.null.statistics, rtol=1e-9)
    assert made.seconds[0] > 0


def test_without_weights_it_is_refused_as_before() -> None:
    with pytest.raises(InputError, match="has none"):
        lanner.search(
            np.arange(300.0)[:, None],
            np.arange(9.0)[:, None],
            expected="weights",
            uncertainties=[LUMI],
            seed=1,
            toys=90,
        )
