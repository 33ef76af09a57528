"""Declared uncertainties beside a reference: each mistake has its own words."""

import re
from typing import Any, cast

import numpy as np
import pytest

from lanner import KnownRatio, Normalisation, Process, Sample, Shifted, Weights
from lanner.errors import InputError, UncertaintyWarning
from lanner.uncertainties.matching import match_uncertainties

RNG = np.random.default_rng(1)
X = RNG.normal(size=(500, 2))
REFERENCE = Sample.of({"pt": X[:, 0], "eta": X[:, 1]}, weights=np.full(500, 0.2))
UP = np.full(500, 0.2) * (1 + 0.1 * np.tanh(X[:, 0]))


def shifted(x: np.ndarray, weights: float = 0.2, names: tuple[str, str] = ("pt", "eta")) -> Sample:
    return Sample(x, names, np.full(len(x), weights))


REFUSED: dict[str, tuple[list[Any], str]] = {
    "a name twice": (
        [Normalisation("a", 0.1), Weights("a", up=UP)],
        "more than one uncertainty is called 'a'",
    ),
    "no uncertainty": ([("lumi", 0.03)], "is no uncertainty: give Normalisation"),
    "another number of weights": ([Weights("pdf", up=UP[:400])], "the weights of 'pdf' are for 400 events"),
    "factors": ([Weights("pdf", up=UP / 0.2)], "'pdf' add up to 4.97 times the reference's: give whole weights"),
    "columns not looked up": ([Weights("pdf", up="w_up")], "'pdf' are columns, 'w_up'"),
    "a label not looked up": ([Process("tt", 0.1, label="is_tt")], "'tt' is a column, 'is_tt'"),
    "up and down the same": ([Weights("pdf", up=UP, down=UP)], "variations up and down of 'pdf' are the same"),
    "samples the same": (
        [Shifted("jes", up=shifted(X + 0.1), down=shifted(X + 0.1))],
        "variations up and down of 'jes' are the same",
    ),
    "other columns": (
        [Shifted("jes", up=shifted(X, names=("pt", "phi")))],
        "the sample up of 'jes'.*'eta'",
    ),
    "too few events": ([Shifted("jes", up=shifted(X[:50], 2.0))], "the sample up of 'jes' has 50 events"),
    "another luminosity": (
        [Shifted("jes", up=shifted(X, 1.0))],
        "weighs 5 times the reference, so the two are not at equal luminosity.*up_yield=1",
    ),
    "no overlap": (
        [Shifted("jes", up=shifted(X + 0.1), down=shifted(X + np.array([0, 50])))],
        "the sample down of 'jes' hardly overlaps with the reference in 'eta'",
    ),
    "another label": ([Process("tt", 0.1, label=[True, False])], "the label of 'tt' are for 2 events"),
    "a function of something else": ([KnownRatio("scale", cast(Any, abs))], "the function of 'scale' fails"),
    "a function of another shape": ([KnownRatio("scale", lambda x, nu: nu * x)], "shape \\(256, 2\\) for 256 events"),
    "a function that is not finite": ([KnownRatio("scale", lambda x, nu: np.log(-nu * x[:, 0] ** 2))], "not finite"),
    "a function with an offset": ([KnownRatio("scale", lambda x, nu: x[:, 0] * nu + 1)], "is up to 1 at nu = 0"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_mistakes_are_refused_by_name(case: str) -> None:
    uncertainties, words = REFUSED[case]
    with pytest.raises(InputError, match=re.compile(words, re.DOTALL)):
        match_uncertainties(uncertainties, REFERENCE)


@pytest.mark.parametrize(
    "nothing",
    [
        Normalisation("a", 0.0),
        Process("a", 0.0, label=X[:, 0] > 0),
        Weights("a", up=np.full(500, 0.2), down=np.full(500, 0.2)),
        Weights("a", up=np.full(500, 0.2)),
        Shifted("a", up=shifted(X), down=shifted(X)),
    ],
)
def test_what_does_nothing_is_left_out_and_said(nothing) -> None:
    with pytest.warns(UncertaintyWarning, match="'a' .*: it is left out"):
        assert match_uncertainties([nothing, Normalisation("b", 0.1)], REFERENCE) == [Normalisation("b", 0.1)]


def test_one_sided_variations_lose_the_other_side() -> None:
    weights, samples = match_uncertainties(
        [
            Weights("pdf", up=UP, down=UP, one_sided=True),
            Shifted("jes", up=shifted(X + 0.1), down=shifted(X + 0.1), one_sided=True),
        ],
        REFERENCE,
    )
    assert weights.down is None
    assert samples.down is None
    assert samples.down_yield is None


def test_columns_take_the_order_of_the_reference() -> None:
    (found,) = match_uncertainties([Shifted("jes", up=shifted(X[:, ::-1] + 0.1, names=("eta", "pt")))], REFERENCE)
    np.testing.assert_array_equal(found.up.features, X + 0.1)


def test_yields_are_those_of_the_weights_unless_they_are_given() -> None:
    up, down = shifted(X + 0.1, 0.22), shifted(np.vstack([X, X, X]) - 0.1, 0.2)
    (found,) = match_uncertainties([Shifted("jes", up=up, down=down, down_yield=0.95)], REFERENCE)
    assert found.up_yield == pytest.approx(1.1)
    assert found.down_yield == 0.95


def test_the_same_events_with_another_yield_are_a_variation() -> None:
    assert len(match_uncertainties([Shifted("eff", up=shifted(X), up_yield=1.05)], REFERENCE)) == 1


def test_a_process_that_is_everything_is_a_normalisation() -> None:
    assert match_uncertainties([Process("all", 0.1, label=np.ones(500))], REFERENCE) == [Normalisation("all", 0.1)]
