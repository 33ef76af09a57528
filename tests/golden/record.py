"""Small runs through the public API with fixed seeds: every statistic, p-value and toy that they give.

`numbers.json` beside this file is the record. `tests/test_golden.py` compares with it, so that a change of plumbing
cannot move a number unnoticed. When a change is meant to move numbers, remake the record and say why in the commit:

    make golden        # or: OMP_NUM_THREADS=1 python -m tests.golden.record
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lanner

RECORD = Path(__file__).with_name("numbers.json")
# Cases in single precision, whose last digits depend on the processor: on others by up to 1e-3 of the largest number
# (seen with OPENBLAS_CORETYPE=Haswell and Prescott). The others agree there to 1e-6.
SINGLE = ("search_default", "compare", "compare_data")
Numbers = dict[str, Any]
_TESTS = ("score", "likelihood-ratio", "one-width", "classifier-auc", "mmd", "energy", "ks", "chi2", "supervised")


def _exponential(n: int, seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).exponential(size=(n, 1))


def _peaked(n: int, signal: int, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return np.vstack([rng.exponential(size=(n, 1)), rng.normal(4.0, 0.1, (signal, 1))])


def _correlated(n: int, seed: int, shift: float = 0.0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    x[:, 1] += 0.5 * x[:, 0] + shift
    x[:, 2] = np.exp(0.5 * x[:, 2])
    return x


def _result(result: lanner.SearchResult) -> Numbers:
    found: Numbers = {
        "statistic": result.statistic,
        "p_value": result.p_value,
        "toys": result.null.statistics.tolist(),
        "spread": None if result.spread is None else asdict(result.spread),
        "log_ratio": result.ratio.log_ratio(result.ratio.scaling.inverse(result.ratio.centers[:5])).tolist(),
    }
    if result.combined is not None:
        found["scales"] = [[s.width, s.penalty, s.statistic, s.local_p] for s in result.combined.scales]
        found["terms"] = {t.label: [t.statistic, t.local_p] for t in result.combined.terms}
    for name in ("analytic", "chi2", "tail"):
        law = getattr(result, name)
        found[name] = None if law is None else law.z_score
    return found


def _search_default() -> Numbers:
    return _result(lanner.search(_exponential(6000, 1), _peaked(300, 12, 2), expected=300, toys=150, seed=1))


def _search_double() -> Numbers:
    data = _correlated(210, 4, shift=0.4)
    return _result(lanner.search(_correlated(5000, 3), data, expected=200, toys=120, seed=2, precision="double"))


def _search_one_width() -> Numbers:
    settings: dict[str, Any] = {"width": 1.5, "penalty": 1e-8, "centers": 300, "newton_steps": 1, "scaling": None}
    settings |= {"precision": "double"}
    return _result(lanner.search(_exponential(4000, 5), _peaked(200, 8, 6), expected=200, toys=60, seed=3, **settings))


def _search_width_from_the_reference() -> Numbers:
    return _result(
        lanner.search(
            _correlated(4200, 7), _correlated(190, 8), expected=200, toys=40, width="auto", precision="double"
        )
    )


def _search_several_fits() -> Numbers:
    return _result(
        lanner.search(
            _exponential(4000, 9),
            _peaked(150, 9, 10),
            expected=160,
            toys=90,
            statistic="likelihood-ratio",
            combination="product",
            precision="double",
            tolerance=1e-9,
        )
    )


def _search_permutation() -> Numbers:
    data = _correlated(300, 12, shift=0.3)
    return _result(lanner.search(_correlated(900, 11), data, expected=300, toys=90, seed=4, precision="double"))


def _search_permutation_of_fits() -> Numbers:
    return _result(
        lanner.search(
            _exponential(800, 13),
            _exponential(200, 14),
            expected=None,
            null="permutation",
            toys=40,
            width="auto",
            precision="double",
        )
    )


def _search_generator() -> Numbers:
    def make(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return rng.exponential(size=(n, 1))

    settings: dict[str, Any] = {"null": "generator", "generator": make, "precision": "double"}
    return _result(lanner.search(_exponential(2000, 15), _peaked(100, 5, 16), expected=100, toys=66, **settings))


def _search_weights() -> Numbers:
    x = _exponential(6000, 17)
    weights = 0.5 + np.random.default_rng(18).random(6000)
    reference = lanner.Sample(x, ("x",), weights)
    return _result(lanner.search(reference, _peaked(200, 6, 19), expected=200, toys=90, precision="double"))


def _search_shape_only() -> Numbers:
    return _result(
        lanner.search(_correlated(5000, 20), _correlated(240, 21), expected=None, toys=90, precision="double")
    )


def _search_until_z() -> Numbers:
    settings: dict[str, Any] = {"until_z": 2.0, "p_precision": 0.5, "toys": 700, "precision": "double"}
    return _result(lanner.search(_correlated(4000, 22), _correlated(190, 23), expected=200, **settings))


def _search_extended() -> Numbers:
    settings: dict[str, Any] = {
        "loss": "extended",
        "width": 2.0,
        "penalty": 1e-5,
        "precision": "double",
        "tolerance": 1e-9,
    }
    return _result(lanner.search(_exponential(4000, 24), _peaked(200, 8, 25), expected=200, toys=40, **settings))


def _search_smaller_reference_of_fits() -> Numbers:
    settings: dict[str, Any] = {"reference_size": 2500, "trace_error": 1e-4, "tolerance": 1e-6, "precision": "double"}
    return _result(
        lanner.search(
            _correlated(5000, 26), _correlated(200, 27), expected=200, toys=40, width=2.5, penalty=1e-6, **settings
        )
    )


def _calibrate_and_apply() -> Numbers:
    with tempfile.TemporaryDirectory() as folder:
        made = lanner.calibrate(
            _correlated(5000, 28), expected=220, output=folder, toys=120, seed=6, precision="double"
        )
        found = _result(lanner.apply(folder, _correlated(220, 29, shift=0.3)))
        return found | {"calibration": made.toys.statistics.tolist()}


def _power() -> Numbers:
    signal = np.random.default_rng(30).normal(2.0, 0.3, (500, 3))
    double: dict[str, Any] = {"precision": "double", "seed": 7}
    made = lanner.power(
        _correlated(5000, 31), signal, expected=200, signal_events=[5, 15], toys=120, experiments=20, **double
    )
    width: dict[str, Any] = double | {"width": 1.5, "penalty": 1e-6}
    one = lanner.power(_correlated(4000, 32), signal, expected=150, signal_events=[8], toys=40, experiments=10, **width)
    alone = lanner.power(
        _correlated(4000, 33), signal, expected=100, signal_events=[20], toys=66, experiments=10, alone=True, **double
    )
    return {
        name: {
            "null": found.null.statistics.tolist(),
            "signal": [s.statistics.tolist() for s in found.strengths],
            "z": [s.z_empirical.tolist() for s in found.strengths],
            "best": [s.band()[1] for s in found.strengths],
        }
        for name, found in (("scales", made), ("one", one), ("alone", alone))
    }


def _compare() -> Numbers:
    signal = np.random.default_rng(34).normal(4.0, 0.2, (400, 1))
    with tempfile.TemporaryDirectory() as folder:
        found = lanner.compare(
            _exponential(3000, 35),
            signal,
            expected=150,
            signal_events=[6, 12],
            tests=_TESTS,
            toys=66,
            experiments=12,
            seed=8,
            output=folder,
        )
        toys = {
            str(path.relative_to(folder)): np.load(path)["statistic"].tolist()
            for path in sorted(Path(folder).rglob("batch-*.npz"))
        }
    return {
        "rows": {r.test: [[f.signal_events, *f.z, *f.probability] for f in r.found] for r in found.rows},
        "toys": toys,
    }


def _compare_data() -> Numbers:
    found = lanner.compare(
        _correlated(3000, 36), data=_correlated(140, 37), expected=150, tests=("score", "energy", "ks"), toys=66
    )
    return {r.test: [r.p_value, r.z_score] for r in found.rows}


def _tune() -> Numbers:
    found = lanner.tune(_correlated(3000, 38), expected=150, seed=9, precision="double")
    return {
        "settings": [found.width, found.penalty, found.centers],
        "trials": [[t.centers, t.penalty, t.rank, t.mean, t.analytic_mean] for t in (*found.penalties, *found.plateau)],
    }


def _fits() -> Numbers:
    reference, data = _correlated(3000, 39), _correlated(300, 40, shift=0.3)
    ways: dict[str, dict[str, Any]] = {
        "newton": {"precision": "double"},
        "falkon": {"solver": "falkon", "centers": 60, "penalty": 1e-4, "tolerance": 1e-8},
        "score": {"statistic": "score", "precision": "double"},
        "extended": {"loss": "extended", "penalty": 1e-5, "precision": "double"},
        "paper": {"newton_steps": 1, "penalty": 1e-9, "precision": "double"},
        "warm": {"penalty": [1e-3, 1e-5, 1e-7], "precision": "double"},
        "scaled": {"scaling": "standard", "width": 3.0, "precision": "double"},
        "points": {"centers": reference[:40], "precision": "double"},
        "shape": {"expected": None, "precision": "double"},
    }
    found = {}
    for name, settings in ways.items():
        ratio = lanner.fit_ratio(reference, data, **({"expected": 300, "rng": 10} | settings))
        found[name] = [ratio.statistic, ratio.rank, *ratio.log_ratio(reference[:5]).tolist()]
    return found


def _estimator() -> Numbers:
    rng = np.random.default_rng(41)
    x = np.vstack([rng.normal(size=(300, 2)), rng.normal(0.7, 1.0, (300, 2))])
    fitted = lanner.LogRatioClassifier(width=1.5, random_state=1).fit(x, np.repeat([0, 1], 300))
    return {"f": fitted.decision_function(x[:10]).tolist(), "statistic": float(fitted.statistic_)}


def _classifier_test() -> Numbers:
    found = lanner.classifier_test(_correlated(600, 42), _correlated(300, 43), replicates=50, rng=1)
    return {"statistic": found.statistic, "p_value": found.p_value}


CASES: dict[str, Callable[[], Numbers]] = {
    function.__name__.lstrip("_"): function
    for function in (
        _search_default,
        _search_double,
        _search_one_width,
        _search_width_from_the_reference,
        _search_several_fits,
        _search_permutation,
        _search_permutation_of_fits,
        _search_generator,
        _search_weights,
        _search_shape_only,
        _search_until_z,
        _search_extended,
        _search_smaller_reference_of_fits,
        _calibrate_and_apply,
        _power,
        _compare,
        _compare_data,
        _tune,
        _fits,
        _estimator,
        _classifier_test,
    )
}


def run(name: str) -> Numbers:
    """The numbers of one case, as they look after a detour through JSON."""
    found: Numbers = json.loads(json.dumps(CASES[name]()))
    return found


def main(path: str | None = None) -> None:
    """Write the record of all cases."""
    numbers = {name: run(name) for name in CASES}
    text = ",\n".join(f" {json.dumps(name)}: {json.dumps(found)}" for name, found in numbers.items())
    Path(path or RECORD).write_text(f"{{\n{text}\n}}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
