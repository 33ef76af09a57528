from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.paper.datasets import one_dimensional as example
from lanner.paper.suite_cases import suite_case


def test_tests_meet_the_signals_of_a_suite(tmp_path: Path) -> None:
    made = lanner.compare_suite(
        share=0.05, tests=["chi2", "supervised"], signals=["bulk", "deficit"], toys=300, experiments=40, output=tmp_path
    )
    assert [r.test for r in made.rows] == ["chi2", "ideal"]
    for row in made.rows:
        assert [f.signal for f in row.found] == ["bulk", "deficit"]
        assert [f.signal_events for f in row.found] == pytest.approx([90 * 0.05**0.5, 1881.47 * 0.05], rel=1e-3)
    blind, ideal = (r.found[0].z[1] for r in made.rows)
    assert ideal > blind
    assert (tmp_path / "compare.png").exists()


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_the_known_ratio_reaches_the_exact_median(share: float) -> None:
    case = suite_case("one-dimensional", seed=1, share=share)
    tail = next(s for s in case.signals if s.name == "tail")
    assert tail.ideal == pytest.approx(
        example.ideal_significance("tail", 10 * share**0.5, expected=2000 * share), rel=1e-9
    )
    assert case.reference_size == 200_000 * share
    assert len(case.events(tail)) == 10_000


def test_a_deficit_is_a_lack_of_events() -> None:
    ratio = example.log_ratio("deficit")
    x = np.array([[0.12], [0.6]])
    assert np.exp(ratio(x)) == pytest.approx([0.75, 1.0], abs=1e-6)


@pytest.mark.parametrize("wrong", [{"share": 0.0}, {"share": 2.0}, {"name": "tops"}, {"signals": ["hump"]}])
def test_suites_that_do_not_exist_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        lanner.compare_suite(**wrong)
