"""A blind search as a whole: what it keeps, what it refuses, and what it expects to find."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import lanner
from lanner.comparison.sensitivity import threshold
from lanner.errors import InputError
from lanner.inference.null import Null
from lanner.inference.tail import fit_tail


def reference(events: int = 5000) -> Any:
    return np.random.default_rng(1).exponential(size=(events, 1))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_made_again_a_folder_is_the_same_to_the_last_byte(tmp_path: Path) -> None:
    signal = np.random.default_rng(2).normal(4.0, 0.1, (200, 1))
    how: dict[str, Any] = {"expected": 200, "toys": 60, "signal": signal, "signal_events": [10]}
    for name in ("one", "other"):
        lanner.blind_search(reference(), output=tmp_path / name, **how)
    made = files(tmp_path / "one")
    assert made == files(tmp_path / "other")
    assert {"blind.json", "blind.html", "sensitivity.json", "manifest.json"} <= set(made)


def test_an_interrupted_blind_search_keeps_its_toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("lanner.comparison.blind.measure", interrupted)
        with pytest.raises(KeyboardInterrupt):
            lanner.blind_search(reference(), expected=200, output=tmp_path, toys=60)
    kept = files(tmp_path)
    lanner.blind_search(reference(), expected=200, output=tmp_path, toys=60)
    assert kept
    assert kept.items() <= files(tmp_path).items()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"expected": None}, "not even know their number"),
        ({"expected": 200, "null": "permutation"}, "relabelling"),
        ({"expected": 200, "null": "generator"}, "for search alone"),
        ({"expected": 1000}, "relabelling reference and data together"),
    ],
    ids=["shape", "permutation", "generator", "a small reference"],
)
def test_what_needs_the_data_is_refused_with_the_reason(settings: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=why):
        lanner.blind_search(reference(), output=tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_a_result_is_refused(tmp_path: Path) -> None:
    lanner.search(reference(), reference(200), expected=200, toys=60).save(tmp_path)
    with pytest.raises(InputError, match="have been looked at"):
        lanner.blind_search(reference(), expected=200, output=tmp_path, toys=60)


def test_a_threshold_is_where_toys_have_so_many_standard_deviations() -> None:
    toys = np.random.default_rng(3).exponential(size=20_000)
    null = Null("reference", toys, np.ones(len(toys), dtype=bool), tail=fit_tail(toys, rng=np.random.default_rng(1)))
    for level in (1.0, 2.0, 3.0):
        assert threshold(null, level) == pytest.approx(-np.log(stats.norm.sf(level)), rel=0.06)
        assert null.empirical(threshold(null, level) or 0.0).z_score == pytest.approx(level, abs=0.06)


def test_too_few_toys_have_no_threshold() -> None:
    assert threshold(Null("reference", np.arange(30.0), np.ones(30, dtype=bool)), 3.0) is None


def test_a_signal_is_found_as_power_finds_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    signal = rng.normal(4.0, 0.1, (400, 1))
    how: dict[str, Any] = {"expected": 200, "toys": 600, "signal_events": [8]}
    blind = lanner.blind_search(reference(), signal=signal, output=tmp_path, **how)
    there = lanner.power(reference(), signal, experiments=40, **how).strengths[0]
    found = next(one.strength for one in blind.sensitivity.found if one.name.startswith("signal"))
    assert found.band()[1] == pytest.approx(there.band()[1], abs=0.5)


def test_the_page_shows_the_reference_by_process_and_in_the_words_of_the_analysis(tmp_path: Path) -> None:
    look = lanner.Look({"x0": "lifetime [ps]"}, ("signal-like", "rest"), np.arange(5000) % 2)
    blind = lanner.blind_search(reference(), expected=200, output=tmp_path, toys=60, look=look)
    page = blind.page.read_text()
    assert "No data were looked at" in page
    assert page.count("<svg") == 3
    plain = json.loads((tmp_path / "sensitivity.json").read_text())
    assert plain["null_toys"] == 40
    assert [one["name"] for one in plain["departures"]] == ["more events", "fewer events", "a cluster", "x0 shifted"]
    assert blind.sensitivity.threshold(3) is None
    assert str(blind).startswith("Blind: 200 events expected, 1 feature; no data were looked at")
