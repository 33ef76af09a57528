"""Unblinding: what an open search gives, once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import InputError, LannerWarning
from lanner.run.prepare import prepare
from lanner.settings import FitSettings


def samples(n: int = 213) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    return rng.exponential(size=(5000, 1)), np.random.default_rng(n).exponential(size=(n, 1))


def weighted() -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    reference = lanner.Sample(rng.normal(size=(6000, 2)), ("a", "b"), rng.uniform(0.5, 1.0, 6000) / 22.5)
    return reference, lanner.Sample(rng.normal(size=(190, 2)), ("a", "b"))


CASES: dict[str, tuple[tuple[Any, Any], dict[str, Any]]] = {
    "several scales": (samples(), {"toys": 90}),
    "one width": (samples(), {"toys": 40, "width": 0.5, "penalty": 1e-4}),
    "weights": (weighted(), {"toys": 90, "expected": "weights"}),
}


@pytest.mark.parametrize("case", list(CASES))
def test_unblinding_gives_what_an_open_search_gives(case: str, tmp_path: Path) -> None:
    (reference, data), settings = CASES[case]
    settings = {"expected": 200, "seed": 3} | settings
    lanner.blind_search(reference, output=tmp_path / "blind", **settings)
    found = lanner.unblind(tmp_path / "blind", reference, data)
    there = lanner.search(reference, data, **settings)
    assert found.p_value == there.p_value
    if case == "several scales":
        assert (found.statistic, found.combined) == (there.statistic, there.combined)
        assert np.array_equal(found.null.statistics, there.null.statistics)
    else:  # single events are multiplied in blocks whose last one depends on how many there are: so do its last digits
        assert found.statistic == pytest.approx(there.statistic, rel=1e-5)
        np.testing.assert_allclose(found.null.statistics, there.null.statistics, rtol=1e-4, atol=1e-4)


def test_unblinding_changes_no_toy(tmp_path: Path) -> None:
    reference, data = samples()
    lanner.blind_search(reference, expected=200, output=tmp_path, toys=60)
    before = {path: path.read_bytes() for path in (tmp_path / "toys").iterdir()}
    lanner.unblind(tmp_path, reference, data)
    assert {path: path.read_bytes() for path in (tmp_path / "toys").iterdir()} == before


def test_the_time_of_looking_is_in_the_result_and_its_report(tmp_path: Path) -> None:
    reference, data = samples()
    lanner.blind_search(reference, expected=200, output=tmp_path, toys=60)
    found = lanner.unblind(tmp_path, reference, data)
    assert found.unblinded is not None
    assert found.unblinded.endswith("UTC")
    assert lanner.load_result(tmp_path).unblinded == found.unblinded
    assert found.unblinded in lanner.write_report(found, tmp_path / "report.html").read_text()


def test_a_second_time_gives_the_result_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference, data = samples()
    lanner.blind_search(reference, expected=200, output=tmp_path, toys=60)
    first = lanner.unblind(tmp_path, reference, data)
    monkeypatch.setattr("lanner.run.unblind.search", None)  # nothing is run
    with pytest.warns(LannerWarning, match=f"was unblinded {first.unblinded}"):
        assert lanner.unblind(tmp_path, reference, data).p_value == first.p_value


def test_an_open_search_in_a_blind_folder_is_refused(tmp_path: Path) -> None:
    reference, data = samples()
    lanner.blind_search(reference, expected=200, output=tmp_path, toys=60)
    with pytest.raises(InputError, match="is blind"):
        lanner.search(reference, data, expected=200, output=tmp_path, toys=60)
    with pytest.raises(InputError, match="is blind"):
        lanner.load_result(tmp_path)


def test_another_reference_is_refused_and_the_folder_stays_blind(tmp_path: Path) -> None:
    reference, data = samples()
    lanner.blind_search(reference, expected=200, output=tmp_path, toys=60)
    with pytest.raises(InputError, match="not the one that was blinded"):
        lanner.unblind(tmp_path, reference[1:], data)
    assert not (tmp_path / "unblinded.json").exists()


@pytest.mark.parametrize("settings", [{}, {"width": 0.5, "penalty": 1e-4}, {"width": "auto"}])
def test_every_setting_is_decided_without_the_data(settings: dict[str, Any]) -> None:
    reference, _ = samples()
    fit = FitSettings(seed=1, **settings)
    plans = [
        [plan.to_dict() for plan in prepare(reference, data, expected=200, settings=fit).plans]
        for data in (None, samples(180)[1], 3 * samples(240)[1])
    ]
    assert plans[0] == plans[1] == plans[2]
