import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression

import lanner
from lanner.errors import ConvergenceWarning, InputError, MemoryBudgetError, NotConvexError, SeparationWarning
from tests.conftest import exponential, shaped

# The paper authors' public notebook: seed, t.
PUBLISHED = [(0, 4.34097), (1, 5.77756), (2, 2.37318), (3, 7.78921), (4, 7.16652), (5, 1.64909)]


def published_toy(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = 200_000 + rng.poisson(2000)
    x = rng.exponential(1 / 8, (n, 1))
    return x[:200_000], x[200_000:]


PUBLISHED_SETTINGS: dict[str, Any] = {
    "expected": 2000,
    "centers": 1000,
    "width": 0.3,
    "penalty": 1e-6,
    "newton_steps": 1,
}


@pytest.mark.parametrize("seed", [0, 99])
@pytest.mark.parametrize(("toy", "t"), PUBLISHED)
def test_published_values_by_the_batched_solver(toy: int, t: float, seed: int) -> None:
    ratio = lanner.fit_ratio(*published_toy(toy), rng=seed, **PUBLISHED_SETTINGS)
    assert ratio.converged
    assert ratio.statistic == pytest.approx(t, abs=0.15)


@pytest.mark.parametrize(
    ("toy", "t"), [pytest.param(*case, marks=[] if case[0] < 2 else pytest.mark.full) for case in PUBLISHED]
)
def test_published_values_by_falkon(toy: int, t: float) -> None:
    ratio = lanner.fit_ratio(*published_toy(toy), rng=0, solver="falkon", **PUBLISHED_SETTINGS)
    assert ratio.converged
    assert ratio.rank == 1000
    assert ratio.statistic == pytest.approx(t, abs=0.15)


@pytest.mark.parametrize(("dimensions", "width"), [(1, 0.05), (5, 1.0), (8, 1.5)])
def test_f_agrees_with_scikit_learn(dimensions: int, width: float) -> None:
    x = shaped(dimensions, 3000, seed=3)
    reference, data, penalty = x[:2500], x[2500:], 1e-4
    nystroem = Nystroem(gamma=0.5 / width**2, n_components=25, random_state=0)
    features = nystroem.fit_transform(x)
    labels = np.repeat([0, 1], [2500, 500])
    model = LogisticRegression(
        C=1 / (penalty * len(x)), fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=200
    ).fit(features, labels, sample_weight=np.where(labels == 1, 1.0, 450 / 2500))
    for kwargs in ({"precision": "single", "tolerance": 1e-5}, {"precision": "double"}, {"solver": "falkon"}):
        ratio = lanner.fit_ratio(
            reference, data, expected=450, width=width, penalty=penalty, centers=nystroem.components_, rng=0, **kwargs
        )
        assert ratio.rank == 25
        np.testing.assert_allclose(ratio.log_ratio(x), model.decision_function(features), atol=1e-4)


def test_single_and_double_precision_agree_in_the_papers_shapes() -> None:
    for dimensions, width in ((1, 0.3), (5, 3.0), (8, 4.5)):
        x = exponential(11_000, 1)[0] if dimensions == 1 else shaped(dimensions, 11_000)
        single, double = (
            lanner.fit_ratio(x[:10_000], x[10_000:], expected=1000, width=width, rng=1, precision=p)
            for p in ("single", "double")
        )
        assert single.rank == double.rank
        assert single.statistic == pytest.approx(double.statistic, abs=0.01 * lanner.analytic_null(single).std)


def test_the_memory_budget_does_not_change_t() -> None:
    x = shaped(5, 12_000)
    fits = [
        lanner.fit_ratio(x[:10_000], x[10_000:], expected=2000, width=3.0, rng=1, memory=memory)
        for memory in ("1 GB", "25 MB")
    ]
    assert fits[0].rank == fits[1].rank
    assert fits[1].statistic == pytest.approx(fits[0].statistic, abs=0.01 * lanner.analytic_null(fits[0]).std)


@pytest.mark.parametrize("loss", ["logistic", "extended"])
@pytest.mark.parametrize("solver", ["newton", "falkon"])
def test_a_strong_narrow_peak_converges_and_is_found(loss: str, solver: str, rng: np.random.Generator) -> None:
    reference, data = exponential(20_000, 1600)
    data = np.vstack([data, rng.normal(0.4, 0.005, (400, 1))])
    ratio = lanner.fit_ratio(
        reference, data, expected=2000, width=0.05, penalty=1e-7, centers=400, loss=loss, solver=solver, rng=1
    )
    assert ratio.converged
    assert ratio.statistic > 500
    assert ratio.ratio([[0.4]])[0] > 5
    assert ratio.ratio([[0.2]])[0] < 1.2


@pytest.mark.parametrize("loss", ["logistic", "extended"])
@pytest.mark.parametrize("solver", ["newton", "falkon"])
def test_separated_samples_warn_and_stay_finite(loss: str, solver: str, rng: np.random.Generator) -> None:
    reference, data = rng.normal(size=(2000, 2)), 30 + rng.normal(size=(300, 2))
    warnings.simplefilter("ignore", ConvergenceWarning)
    with pytest.warns(SeparationWarning, match="same units and selection") as said:
        ratio = lanner.fit_ratio(reference, data, expected=300, width=5.0, loss=loss, solver=solver, rng=1)
    assert said[0].filename == __file__  # the line that asked for the fit
    assert np.isfinite(ratio.statistic)
    assert np.isfinite(ratio.log_ratio(np.vstack([reference, data]))).all()


PEAKED = np.vstack([np.random.default_rng(5).normal(size=(320, 3)), np.random.default_rng(6).normal(2.5, 0.2, (80, 3))])
NORMAL = np.random.default_rng(7).normal(size=(4000, 3))


@pytest.mark.parametrize(("loss", "penalty"), [("extended", 1e-9), ("logistic", 1e-14)])
def test_rounding_is_not_taken_for_negative_weights(loss: str, penalty: float) -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = PEAKED if loss == "extended" else np.random.default_rng(8).normal(size=(300, 3))
    ratio = lanner.fit_ratio(NORMAL, data, expected=300, width=1.7, penalty=penalty, loss=loss, rng=0)
    assert np.isfinite(ratio.statistic)


def test_a_strong_signal_has_the_same_t_in_single_and_double_precision() -> None:
    single, double = (
        lanner.fit_ratio(NORMAL, PEAKED, expected=300, width=3**0.5, penalty=1e-7, centers=120, rng=0, precision=p)
        for p in ("single", "double")
    )
    assert single.converged
    assert single.statistic == pytest.approx(double.statistic, rel=1e-3)


def test_two_steps_of_the_extended_loss_are_solved_far_from_the_start() -> None:
    fits = [
        lanner.fit_ratio(
            NORMAL, PEAKED, expected=300, width=3.0, penalty=1e-2, loss="extended", newton_steps=2, rng=0, precision=p
        )
        for p in ("single", "double")
    ]
    assert all(fit.converged for fit in fits)
    assert fits[0].statistic == pytest.approx(fits[1].statistic, rel=1e-3)


def test_a_large_penalty_leaves_a_small_t_not_none() -> None:
    t = [
        lanner.fit_ratio(NORMAL, PEAKED, expected=400, width=1.0, penalty=1e5, rng=0, precision=p).statistic
        for p in ("single", "double")
    ]
    assert t[0] == pytest.approx(t[1], rel=0.05)
    assert t[1] > 0


@pytest.mark.parametrize("scale", [1e-40, 1e39, 1e-200])
def test_weights_beyond_single_precision_do_no_harm(scale: float) -> None:
    reference, data = exponential(2000, 200)
    plain = lanner.fit_ratio(reference, data, expected=200, width=0.3, rng=1)
    weighted = lanner.fit_ratio(
        lanner.Sample.of(reference, weights=np.full(2000, scale)), data, expected=200, width=0.3, rng=1
    )
    assert weighted.statistic == pytest.approx(plain.statistic, rel=1e-4)


def test_the_analytic_null_knows_what_weights_cost() -> None:
    # Weights that do not depend on x: the reference fluctuates as one of (sum w)^2 / sum w^2 events.
    rng = np.random.default_rng(3)
    t, law = [], None
    for _ in range(150):
        sample = lanner.Sample.of(rng.exponential(size=(2000, 1)), weights=rng.lognormal(0, 1.0, 2000))
        data = rng.exponential(size=(rng.poisson(600), 1))
        ratio = lanner.fit_ratio(sample, data, expected=600, width=1.0, penalty=1e-5, centers=100, rng=1)
        t.append(ratio.statistic)
        law = lanner.analytic_null(ratio)
    assert law is not None
    assert np.mean(t) == pytest.approx(law.mean, abs=5 * law.std / 150**0.5)


def test_weights_of_one_change_nothing() -> None:
    reference, data = exponential(4000, 400)
    plain = lanner.fit_ratio(reference, data, expected=400, width=0.3, rng=1)
    weighted = lanner.fit_ratio(
        lanner.Sample.of(reference, weights=np.ones(4000)),
        lanner.Sample.of(data, weights=np.ones(400)),
        expected=400,
        width=0.3,
        rng=1,
    )
    assert weighted.statistic == pytest.approx(plain.statistic, abs=1e-5)


def test_the_scale_of_the_reference_weights_does_not_matter() -> None:
    reference, data = exponential(4000, 400)
    w = np.random.default_rng(2).uniform(0.5, 1.5, 4000)
    t = [
        lanner.fit_ratio(
            lanner.Sample.of(reference, weights=scale * w), data, expected=400, width=0.3, rng=1, precision="double"
        ).statistic
        for scale in (1.0, 1e-6, 1e4)
    ]
    np.testing.assert_allclose(t, t[0], rtol=1e-8)


def test_weights_that_undo_a_tilt_bring_t_down(rng: np.random.Generator) -> None:
    # A reference drawn with another slope, weighted back to the data's: t must be that of a null fit again.
    reference, data = rng.exponential(1 / 6, (20_000, 1)), rng.exponential(1 / 8, (1000, 1))
    weights = (8 * np.exp(-8 * reference) / (6 * np.exp(-6 * reference)))[:, 0]
    settings: dict[str, Any] = {"expected": 1000, "width": 0.3, "penalty": 1e-7, "rng": 1}
    tilted = lanner.fit_ratio(reference, data, **settings)
    undone = lanner.fit_ratio(lanner.Sample.of(reference, weights=weights), data, **settings)
    assert tilted.statistic > 60
    assert undone.statistic < lanner.analytic_null(undone).isf(1e-3)


@pytest.mark.parametrize("solver", ["newton", "falkon"])
def test_a_few_negative_weights_are_fitted(solver: str, rng: np.random.Generator) -> None:
    # Negative events on top of their positive mirror images cancel: what is left is the plain sample.
    reference, data = exponential(6000, 600)
    extra = reference[:1000]
    padded = np.vstack([reference, extra, extra])
    weights = np.concatenate([np.ones(7000), -np.ones(1000)])
    settings: dict[str, Any] = {
        "expected": 600,
        "width": 0.3,
        "centers": data[:50],
        "penalty": 1e-6,
        "precision": "double",
    }
    plain = lanner.fit_ratio(reference, data, solver=solver, rng=1, **settings)
    # The penalty counts events: 6600 without, 8600 with the pairs that cancel.
    settings["penalty"] = 1e-6 * 6600 / 8600
    cancelled = lanner.fit_ratio(lanner.Sample.of(padded, weights=weights), data, solver=solver, rng=1, **settings)
    assert cancelled.converged
    assert cancelled.statistic == pytest.approx(plain.statistic, rel=1e-4)


@pytest.mark.parametrize("solver", ["newton", "falkon"])
def test_too_many_negative_weights_are_an_error(solver: str) -> None:
    reference, data = exponential(6000, 600)
    weights = np.where(reference[:, 0] > 0.3, -5.0, 2.0)
    sample = lanner.Sample.of(reference, weights=weights)
    with pytest.raises(NotConvexError, match="raise the penalty or the width"):
        lanner.fit_ratio(sample, data, expected=600, width=0.1, rng=1, centers=300, solver=solver)


def test_one_seed_one_result_and_columns_in_any_order() -> None:
    x = shaped(3, 6000)
    names = ["pt", "eta", "phi"]
    reference, data = pd.DataFrame(x[:5000], columns=names), pd.DataFrame(x[5000:], columns=names)
    a, b = (lanner.fit_ratio(reference, d, expected=1000, rng=7) for d in (data, data[["phi", "pt", "eta"]]))
    assert a.statistic == b.statistic
    assert a.names == ("pt", "eta", "phi")


def test_scaling_is_learned_on_the_reference_alone() -> None:
    reference, data = exponential(4000, 400)
    plain = lanner.fit_ratio(reference, data, expected=400, width=0.3, rng=1, precision="double")
    scaled = lanner.fit_ratio(
        1000 * reference, 1000 * data, expected=400, width=0.3 / reference.std(), scaling="standard", rng=1,
        precision="double",
    )  # fmt: skip
    assert scaled.statistic == pytest.approx(plain.statistic, rel=1e-6)
    np.testing.assert_allclose(scaled.log_ratio(1000 * data), plain.log_ratio(data), atol=1e-6)


def test_shape_only_expects_what_was_observed() -> None:
    reference, data = exponential(4000, 400)
    fits = [lanner.fit_ratio(reference, data, expected=e, width=0.3, rng=1) for e in (None, 400)]
    assert fits[0].statistic == fits[1].statistic


R, D = exponential(500, 100)
NAN = R.copy()
NAN[3] = np.nan
WIDE = np.hstack([R, np.full((500, 1), 4.0)])


@pytest.mark.parametrize(
    ("reference", "data", "changes", "message"),
    [
        (NAN, D, {}, r"reference.*'?x0'?.*1 of 500|reference.*x0.*1"),
        (R, np.where(D > 0.3, np.inf, D), {}, "data.*x0"),
        (R[:0], D, {}, "reference.*(empty|no events)"),
        (R, D[:0], {}, "data.*(empty|no events)"),
        ({"a": R[:, 0]}, {"b": D[:, 0]}, {}, "'a'"),
        (WIDE, np.hstack([D, D]), {}, "reference.*x1.*constant|constant.*x1"),
        (R, D, {"expected": 0}, "expected=0"),
        (R, D, {"expected": -3.0}, "expected=-3"),
        (R, D, {"expected": float("nan")}, "expected=nan"),
        (R, D, {"width": 0.0}, "width=0"),
        (R, D, {"width": -1.0}, "width=-1"),
        (R, D, {"penalty": 0.0}, "penalty=0"),
        (R, D, {"penalty": -1e-6}, "penalty=-1e-06"),
        (R, D, {"penalty": [1e-6, 1e-5]}, "must decrease"),
        (R, D, {"penalty": []}, "penalty="),
        (R, D, {"centers": 601}, r"more centres than events \(600\)"),
        (R, D, {"centers": 0}, "centers=0"),
        (R, D, {"centers": 2.5}, "centers=2.5"),
        (R, D, {"centers": np.ones((4, 3))}, "3 columns.* have 1"),
        (R, D[:2], {}, "data has 2 events.*means nothing"),
        (R[:10], D, {}, "reference has 10 events.*means nothing"),
        (R.astype(object), D, {}, "reference.*object"),
        (R, D.astype(complex), {}, "data.*complex"),
        (R, D, {"newton_steps": 0}, "newton_steps=0"),
        (R, D, {"loss": "hinge"}, "'logistic', 'extended'"),
        (R, D, {"solver": "magic"}, "'newton', 'falkon'"),
        (R, D, {"scaling": "minmax"}, "standard"),
        (R, D, {"precision": "half"}, "'single', 'double'"),
        (R, D, {"tolerance": 0.0}, "tolerance=0"),
        (R, D, {"trace_error": 2.0}, "trace_error=2"),
        (R, D, {"memory": "a lot"}, "memory='a lot'"),
        (R, D, {"memory": [3]}, "memory="),
        (R, D, {"penalty": "1e-6"}, "penalty='1e-6' is not a number"),
        (R, D, {"penalty": None}, "penalty=None is not a number"),
        (R, D, {"newton_steps": 1.5}, "newton_steps=1.5"),
        (R, D, {"newton_steps": float("nan")}, "newton_steps=nan"),
        (R, D, {"centers": float("nan")}, "centers=nan"),
        (R, D, {"expected": "many"}, "expected='many' is not a number"),
        (R, D, {"width": [1.0]}, r"width=\[1.0\] is not a number"),
        (R, D, {"tolerance": float("inf")}, "tolerance=inf"),
        (R, D, {"loss": ["logistic"]}, "'logistic', 'extended'"),
        (np.where(np.arange(500)[:, None] < 10, 1.0, 0.0), D, {"width": None}, "no kernel width follows"),
    ],
)
def test_bad_input_is_named(reference: object, data: object, changes: dict[str, object], message: str) -> None:
    settings: dict[str, object] = {"expected": 100, "width": 0.3} | changes
    with pytest.raises(InputError, match=message):
        lanner.fit_ratio(reference, data, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("solver", ["newton", "falkon"])
def test_a_budget_too_small_for_one_block(solver: str) -> None:
    with pytest.raises(MemoryBudgetError, match=r"needs .* but the memory budget is 2\.0 kB|0\.0 MB"):
        lanner.fit_ratio(R, D, expected=100, width=0.3, memory=2000, solver=solver)
