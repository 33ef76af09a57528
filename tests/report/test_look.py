"""Words for axes, and stacks of processes."""

from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.report.look import Look
from lanner.report.plots.profile import figure_of_profile
from lanner.report.profiles import contents


@pytest.fixture(scope="module")
def searched() -> tuple[Any, lanner.Sample, lanner.Sample, np.ndarray]:
    rng = np.random.default_rng(1)
    process = rng.integers(0, 3, 8000)
    x = np.column_stack([rng.exponential(size=8000) + process, rng.normal(size=8000)])
    weights = np.where(rng.random(8000) < 0.1, -1.0, 1.0) * (200 / 6400)
    reference = lanner.Sample(x, ("mll", "eta"), weights)
    data = lanner.Sample(x[rng.choice(8000, 200, replace=False)] + 1e-3, ("mll", "eta"))
    result = lanner.search(reference, data, expected=200, toys=90, seed=1)
    return result, reference, data, process


def test_processes_add_up_to_the_reference(searched: Any) -> None:
    result, reference, data, process = searched
    look = Look({"mll": r"$m_{\ell\ell}$ [GeV]"}, ("Drell-Yan", "top", "$$"), process)
    found = lanner.characterise(result, reference, data, look=look)
    profile = found.profile("mll")
    assert [name for name, _ in profile.stack] == ["Drell-Yan", "top", "$$"]
    np.testing.assert_allclose(sum(part for _, part in profile.stack), contents(profile.reference), atol=1e-9)
    upper, lower = figure_of_profile(profile).axes
    assert lower.get_xlabel() == r"$m_{\ell\ell}$ [GeV]"
    texts = [text.get_text() for text in upper.get_legend().get_texts()]
    assert texts[:3] == ["Drell-Yan", "top", r"\$\$"]
    assert found.profile("eta").axis is None


def test_a_look_that_does_not_fit_is_refused(searched: Any) -> None:
    result, reference, data, process = searched
    with pytest.raises(InputError, match="processes of 7999 events"):
        lanner.characterise(result, reference, data, look=Look({}, ("a", "b", "c"), process[:-1]))
    with pytest.raises(InputError, match="numbered from 0 to 1"):
        lanner.characterise(result, reference, data, look=Look({}, ("a", "b"), process))
