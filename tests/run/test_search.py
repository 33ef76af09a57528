import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import CountWarning, InputError, NullWarning, StoreError
from tests.conftest import exponential, shaped

SETTINGS = {"expected": 300, "width": 0.3, "penalty": 1e-6, "centers": 200, "scaling": None, "seed": 5}
R, D = exponential(6000, 300, seed=1)


def small(data: np.ndarray = D, **changes: Any) -> lanner.SearchResult:
    return lanner.search(R, data, **(SETTINGS | {"toys": 60} | changes))


def test_data_that_follow_the_reference_are_unremarkable() -> None:
    result = small()
    assert 0.01 < result.p_value <= 1
    assert result.null.not_converged == result.null.not_positive == 0
    assert "compatible" in result.verdict()


@pytest.mark.parametrize("null", ["reference", "permutation", "generator"])
def test_a_signal_is_found(null: str, rng: np.random.Generator) -> None:
    make = {"generator": lambda n, g: g.exponential(1 / 8, (n, 1))} if null == "generator" else {}
    result = small(np.vstack([D, rng.normal(0.9, 0.02, (20, 1))]), null=null, **make)
    assert result.empirical.is_bound
    assert result.p_value == 1 / 61
    assert result.analytic.z_score > 4
    assert result.chi2 is not None
    assert result.chi2.z_score > 4
    assert "depart" in result.verdict()
    assert "none of 60 toys is as extreme" in result.verdict()


def test_other_subsamples_of_the_reference_hardly_move_z() -> None:
    result = small()
    assert result.spread is not None
    assert 0 < result.spread.subsamples == result.spread.total < 0.5


def test_every_fit_has_the_same_number_of_reference_events() -> None:
    result = small()
    assert result.plan.reference_size < 6000 - 300
    assert result.ratio.reference_size == result.plan.reference_size


def test_seeds_belong_to_toys_not_to_batches() -> None:
    few, many = small(toys=30), small(toys=60)
    np.testing.assert_allclose(few.null.statistics, many.null.statistics[:30], atol=0.02)
    other = small(seed=6)
    assert np.abs(other.null.statistics - many.null.statistics).max() > 1


def test_shape_only_ignores_the_count() -> None:
    half = D[:150]
    result = small(half, expected=None)
    assert result.plan.fixed == 150
    assert result.p_value > 0.01
    with pytest.warns(CountWarning, match=r"150 data events where 300 are expected: -8\.7 sigma"):
        counted = small(half)
    assert counted.empirical.is_bound
    assert any("-8.7 sigma" in text for text in counted.warnings)


def test_a_single_data_event_can_be_tested() -> None:
    options = {"expected": 2.0, "toys": 180, "seed": 1}
    like, far, unlike = (lanner.search(R, [[x]], **options) for x in (0.1, 50.0, 0.9))  # type: ignore[arg-type]
    assert like.p_value > 0.1
    assert far.p_value <= 2 / 121
    assert far.p_value <= unlike.p_value < like.p_value
    for result in (like, far):
        assert json.loads(result.to_json())["samples"]["data"] == 1
        assert str(result)


def test_a_small_reference_is_permuted_and_says_so() -> None:
    result = lanner.search(R[:5999], D, **(SETTINGS | {"toys": 40}))  # type: ignore[arg-type]
    assert result.plan.null == result.null.kind == "permutation"
    assert any("fewer than 20 events for each one expected" in str(one) for one in result.plan.chosen)
    assert small(toys=40).plan.null == "reference"
    with pytest.warns(NullWarning, match="small p-values come out too small; use a larger reference"):
        asked = lanner.search(R[:2000], D, null="reference", **(SETTINGS | {"toys": 40}))  # type: ignore[arg-type]
    assert asked.plan.null == "reference"


def test_a_permutation_tests_the_count_where_one_is_expected() -> None:
    few = D[:150]
    with pytest.warns(CountWarning):
        counted = small(few, null="permutation", expected=300)
    assert counted.plan.fixed is None
    assert counted.empirical.is_bound
    assert small(few, null="permutation", expected=None).p_value > 0.01


def test_a_permutation_without_room_for_its_toys_says_so() -> None:
    with pytest.raises(InputError, match=r"40 reference and 300 data events leave too few.*expected=None"):
        lanner.search(R[:40], D, null="permutation", **(SETTINGS | {"centers": 20}))  # type: ignore[arg-type]


def test_settings_that_are_left_open_are_chosen_and_said() -> None:
    result = lanner.search(R, D, expected=300, toys=20, seed=1, width="auto")
    said = " ".join(map(str, result.plan.chosen))
    for word in ("width", "penalty", "centers"):
        assert word in said


def test_a_weighted_reference_is_calibrated_by_hit_or_miss(rng: np.random.Generator) -> None:
    tilted = rng.exponential(1 / 6, (12_000, 1))
    weights = np.exp(-2 * tilted[:, 0])
    result = lanner.search(
        lanner.Sample.of(tilted, weights=weights),
        D,
        **(SETTINGS | {"toys": 60, "centers": 300}),  # type: ignore[arg-type]
    )
    assert result.p_value > 0.01
    assert abs(result.null.statistics.mean() - result.null.analytic.mean) < 0.5 * result.null.analytic.std


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"null": "bootstrap"}, "'reference', 'permutation', 'generator'"),
        ({"null": "generator"}, "needs generator="),
        ({"null": "generator", "generator": lambda n, g: np.zeros((n, 2))}, "2 features where"),
        ({"toys": 0}, "toys=0"),
        ({"centers": 7000}, "centers=7000"),
        ({"expected": -1.0}, "expected=-1"),
    ],
)
def test_bad_settings_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        small(**changes)


def test_weights_where_they_cannot_be_calibrated_are_refused() -> None:
    weighted = lanner.Sample.of(R, weights=np.ones(6000))
    with pytest.raises(InputError, match="data has event weights"):
        lanner.search(R, lanner.Sample.of(D, weights=np.ones(300)), **SETTINGS)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="null='reference' instead"):
        lanner.search(weighted, D, null="permutation", **SETTINGS)  # type: ignore[arg-type]
    negative = lanner.Sample.of(R, weights=np.where(np.arange(6000) < 10, -1.0, 1.0))
    with pytest.raises(InputError, match="null='reference' instead"):
        lanner.search(negative, D, null="permutation", **SETTINGS)  # type: ignore[arg-type]


def test_more_toys_add_to_those_there(tmp_path: Path) -> None:
    first = small(toys=20, output=tmp_path)
    before = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "toys").glob("*.npz")}
    more = small(toys=50, output=tmp_path)
    np.testing.assert_array_equal(more.null.statistics[:20], first.null.statistics)
    assert {n: (tmp_path / "toys" / n).stat().st_mtime_ns for n in before} == before


def test_a_store_of_another_reference_is_refused(tmp_path: Path) -> None:
    small(toys=10, output=tmp_path)
    with pytest.raises(StoreError, match="events"):
        lanner.search(1.01 * R, D, toys=10, output=tmp_path, **SETTINGS)  # type: ignore[arg-type]


def test_permuted_toys_depend_on_the_data(tmp_path: Path) -> None:
    small(toys=10, output=tmp_path, null="permutation")
    with pytest.raises(StoreError, match="events"):
        small(D[::-1] * 1.01, toys=10, output=tmp_path, null="permutation")


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[2])
import numpy as np, lanner
from tests.conftest import shaped
x = shaped(3, 12_600)
result = lanner.search(x[:12_000], x[12_000:], expected=600, toys=120, seed=3, width=2.0, penalty=1e-6, centers=400,
                       output=sys.argv[1])
np.save(sys.argv[1] + "/t.npy", np.append(result.null.statistics, result.statistic))
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), str(Path(__file__).parent.parent)])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    folder = tmp_path_factory.mktemp("undisturbed")
    # Small batches, so that there is something to interrupt.
    prepare_store(folder)
    assert start(folder).wait() == 0
    return np.load(folder / "t.npy")


def prepare_store(folder: Path) -> None:
    """A store whose grid has batches of 10."""
    x = shaped(3, 12_600)
    lanner.search(
        x[:12_000], x[12_000:], expected=600, toys=10, seed=3, width=2.0, penalty=1e-6, centers=400, output=folder
    )


def test_killed_at_random_moments_a_run_ends_with_the_same_bits(undisturbed: np.ndarray, tmp_path: Path) -> None:
    prepare_store(tmp_path)
    rng = np.random.default_rng(8)
    for _ in range(10):
        process = start(tmp_path)
        time.sleep(1.0 + 2.5 * rng.random())
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert start(tmp_path).wait() == 0
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), undisturbed)


def test_two_runs_share_a_store_and_end_with_the_same_bits(undisturbed: np.ndarray, tmp_path: Path) -> None:
    prepare_store(tmp_path)
    runs = [start(tmp_path), start(tmp_path)]
    assert [run.wait() for run in runs] == [0, 0]
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), undisturbed)


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    prepare_store(tmp_path)

    def stop(done: int, toys: int) -> None:
        if done >= 40:
            raise KeyboardInterrupt

    x = shaped(3, 12_600)
    with pytest.raises(KeyboardInterrupt):
        lanner.search(
            x[:12_000], x[12_000:], expected=600, toys=120, seed=3, width=2.0, penalty=1e-6, centers=400,
            output=tmp_path, progress=stop,
        )  # fmt: skip
    assert len(list((tmp_path / "toys").glob("*.npz"))) >= 3
    assert not list((tmp_path / "toys").glob("*.lock"))


def test_an_empty_output_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="output='': give a text"):
        lanner.search(*exponential(2000, 100), expected=100, toys=40, output="")
    assert list(tmp_path.iterdir()) == []
