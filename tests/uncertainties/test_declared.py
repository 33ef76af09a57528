"""Declarations of uncertainties: what is refused, and in which words."""

from typing import Any, cast

import numpy as np
import pytest

from lanner import KnownRatio, Normalisation, Process, Sample, Shifted, Weights
from lanner.errors import InputError

X = np.arange(6.0)[:, None]


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (3.0, "'lumi' has the size 3: .* for 3 % give 0.03"),
        (-0.1, "from 0 to 1"),
        (np.nan, "from 0 to 1"),
        ("much", "is not a number"),
    ],
)
def test_a_size_is_a_relative_uncertainty(size: Any, words: str) -> None:
    for declare in (lambda: Normalisation("lumi", size), lambda: Process("lumi", size, label=[1, 0])):
        with pytest.raises(InputError, match=words):
            declare()


@pytest.mark.parametrize("name", ["", " ", None, 3])
def test_an_uncertainty_has_a_name(name: Any) -> None:
    with pytest.raises(InputError, match="has the name"):
        Normalisation(name, 0.1)


@pytest.mark.parametrize(
    ("up", "down", "words"),
    [
        ([1.0, np.nan], None, "the weights up of 'pdf' are NaN, infinite or masked in 1 of 2 rows"),
        (
            [1.0, 1.0],
            [0.0, 0.0],
            "the weights down of 'pdf' cannot be used: the total weight is 0 because all are zero",
        ),
        ([1.0, -2.0], None, "total weight is -1"),
        ([1.0, 1.0], [1.0, 1.0, 1.0], "up and down of 'pdf' are 2 and 3"),
        ([[1.0, 1.0]], None, "have shape"),
        (None, [1.0], "lack up="),
    ],
)
def test_weights_that_are_none_are_refused(up: object, down: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Weights("pdf", up=up, down=down)


def test_single_negative_weights_are_no_harm() -> None:
    assert Weights("pdf", up=[2.0, -0.5, 1.0]).up.tolist() == [2.0, -0.5, 1.0]


def test_a_one_sided_variation_has_no_other_side() -> None:
    with pytest.raises(InputError, match="declared one-sided, but its weights up and down differ"):
        Weights("pdf", up=[1.0, 2.0], down=[2.0, 1.0], one_sided=True)
    with pytest.raises(InputError, match="declared one-sided, but its samples up and down differ"):
        Shifted("jes", up=X, down=X + 1, one_sided=True)
    Weights("pdf", up=[1.0, 2.0], down=[1.0, 2.0], one_sided=True)
    Shifted("jes", up=X, down=X, one_sided=True)


def test_names_of_columns_are_looked_up_later() -> None:
    declared = Weights("pdf", up="w_up", down="w_down")
    assert declared.columns == ("w_up", "w_down")
    resolved = declared.resolved({"w_up": [1.1, 0.9], "w_down": [0.9, 1.1]})
    assert resolved.columns == ()
    assert resolved.down.tolist() == [0.9, 1.1]
    with pytest.raises(InputError, match="'w_down' \\(nearest: 'w_dn'\\)"):
        declared.resolved({"w_up": [1.1], "w_dn": [0.9]})
    process = Process("ttbar", 0.06, label="is_ttbar")
    assert process.resolved({"is_ttbar": [True, False]}).label.tolist() == [1.0, 0.0]


def test_a_shifted_sample_is_checked_like_any_other() -> None:
    assert isinstance(Shifted("jes", up=X).up, Sample)
    with pytest.raises(InputError, match="the sample down of 'jes' has NaN"):
        Shifted("jes", up=X, down=np.where(X == 2, np.nan, X))
    with pytest.raises(InputError, match="total weight is 0"):
        Shifted("jes", up=Sample.of(X, weights=np.zeros(6)))
    with pytest.raises(InputError, match="lacks up="):
        Shifted("jes", up=None, down=X)


@pytest.mark.parametrize("change", [0.0, -1.0, 3.0, np.nan])
def test_a_yield_is_a_ratio_near_one(change: float) -> None:
    with pytest.raises(InputError, match="up_yield of 'jes' is"):
        Shifted("jes", up=X, up_yield=change)


def test_the_yield_of_no_sample_is_refused() -> None:
    with pytest.raises(InputError, match="no sample down"):
        Shifted("jes", up=X, down_yield=1.0)


@pytest.mark.parametrize("label", [[0.5, 1.0], ["a", "b"], [[True], [False]]])
def test_a_label_is_true_or_false(label: object) -> None:
    with pytest.raises(InputError, match="other values than true and false"):
        Process("ttbar", 0.06, label=label)


def test_a_process_without_events_is_refused() -> None:
    with pytest.raises(InputError, match="false for every event"):
        Process("ttbar", 0.06, label=[0, 0])


def test_a_known_ratio_needs_a_function() -> None:
    with pytest.raises(InputError, match="cannot be called"):
        KnownRatio("scale", cast(Any, 0.05))
