"""Log-ratios learned from samples, weights and labels, against closed forms."""

import time

import numpy as np
import pytest

from lanner import KnownRatio, Normalisation, Process, Sample, Scaling, Shifted, Weights
from lanner.errors import ClosureWarning, InputError, UncertaintyWarning
from lanner.uncertainties.learn import Learned, learn
from lanner.uncertainties.mean_weight import mean_weights

EXPECTED = 2000
GRID = np.linspace(0, 6, 601)
DENSITY = np.exp(-GRID) / np.exp(-GRID).sum()


def learned(uncertainties, x, weights=None, *, expected=EXPECTED, **options) -> Learned:
    reference = Sample.of(x, weights=weights)
    return learn(uncertainties, reference, expected=expected, scaling=Scaling.learn(reference, "robust"), **options)


def scale(x: np.ndarray, shift: float) -> np.ndarray:
    """log r of an exponential whose mean grows by e^shift."""
    return x * (1 - np.exp(-shift)) - shift


def exponentials(n: int, size: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    draw = [rng.exponential(mean, (n, 1)) for mean in (1.0, np.exp(size), np.exp(-size))]
    return draw[0], draw[1], draw[2]


def errors(found: Learned, size: float) -> tuple[float, float]:
    """rms, weighted by the reference's density, and maximum below 6 of the error of log r at nu = 1 and -1."""
    effect = found.nuisances.of(GRID[:, None])
    parts = [effect.at(np.array([nu]))[0] - scale(GRID, nu * size) for nu in (1.0, -1.0)]
    return max(float(np.sqrt(DENSITY @ e**2)) for e in parts), max(float(np.abs(e).max()) for e in parts)


@pytest.mark.parametrize("size", [0.05, 0.15])
def test_a_scale_is_learned_far_better_than_the_data_can_tell(size: float) -> None:
    x, up, down = exponentials(200_000, size, seed=1)
    found = learned([Shifted("scale", up=up, down=down)], x)
    rms, most = errors(found, size)
    assert rms < 0.3 * EXPECTED**-0.5
    assert most < 1.5 * EXPECTED**-0.5
    assert all(closure.closes and closure.tells for closure in found.closures)


def test_with_fewer_events_it_is_said_that_nobody_can_tell() -> None:
    x, up, down = exponentials(40_000, 0.05, 1)
    with pytest.warns(ClosureWarning, match="too few varied events to tell.*'scale' up"):
        found = learned([Shifted("scale", up=up, down=down)], x)
    assert errors(found, 0.05)[0] < 0.7 * EXPECTED**-0.5


def test_the_same_events_at_other_values_tell_more_than_other_events() -> None:
    x = exponentials(20_000, 0.05, 2)[0]
    found = learned([Shifted("scale", up=x * np.exp(0.05), down=x * np.exp(-0.05))], x, expected=500)
    assert errors(found, 0.05)[0] < 0.25 * EXPECTED**-0.5


def test_beyond_one_uncertainty_log_r_goes_on_in_a_straight_line() -> None:
    x = exponentials(40_000, 0.15, 3)[0]
    found = learned([Shifted("scale", up=x * np.exp(0.15), down=x * np.exp(-0.15))], x, expected=500)
    effect = found.nuisances.of(GRID[:, None])
    values = [effect.at(np.array([nu]))[0] for nu in (1.0, 2.0, 3.0)]
    np.testing.assert_allclose(values[2] - values[1], values[1] - values[0], atol=1e-12)
    np.testing.assert_allclose(values[1] - values[0], effect.at(np.array([1.0]))[1][:, 0], atol=1e-12)
    assert np.sqrt(DENSITY @ (values[1] - scale(GRID, 0.3)) ** 2) < 0.04  # the truth is no parabola


def test_changes_of_acceptance_are_part_of_the_variation() -> None:
    # Events above 1 are selected; a scale of +5 % lets more of them in.
    x = exponentials(100_000, 0.0, 4)[0]
    up, down = (x * np.exp(shift) for shift in (0.05, -0.05))
    found = learned([Shifted("scale", up=up[up > 1], down=down[down > 1])], x[x > 1], expected=500)
    effect = found.nuisances.of(GRID[GRID > 1, None])
    error = effect.at(np.array([1.0]))[0] - scale(GRID[GRID > 1], 0.05)
    assert np.sqrt(np.average(error**2, weights=DENSITY[GRID > 1])) < 0.3 * EXPECTED**-0.5


def test_a_yield_that_is_given_takes_the_place_of_that_of_the_samples() -> None:
    x = exponentials(20_000, 0.0, 5)[0]
    up = np.random.default_rng(6).permutation(x)[:8000] * 1.02
    found = learned([Shifted("scale", up=Sample.of(up), up_yield=1.1)], x, expected=200)
    log_r = found.nuisances.of(x).at(np.array([1.0]))[0]
    assert np.exp(log_r).mean() == pytest.approx(1.1, abs=0.005)


def test_weighted_samples_are_taken_by_their_weights() -> None:
    rng = np.random.default_rng(7)
    x, up = rng.exponential(2.0, (40_000, 1)), rng.exponential(2.0, (40_000, 1))
    to_one, to_more = 2 * np.exp(-x[:, 0] / 2), 2 / 1.05 * np.exp(-up[:, 0] * (1 / 1.05 - 0.5))
    found = learned([Shifted("scale", up=Sample.of(up, weights=to_more))], x, weights=to_one, expected=200)
    error = found.nuisances.of(GRID[:, None]).at(np.array([1.0]))[0] - scale(GRID, np.log(1.05))
    assert np.sqrt(DENSITY @ error**2) < 0.03


def pdf_like(x: np.ndarray, w: np.ndarray, pairs: int) -> tuple[list[Weights], list[np.ndarray]]:
    """Pairs of weights that depend on features and, as weights do, on something that is not among them."""
    hidden = np.random.default_rng(8).normal(size=len(x))
    declared, truths = [], []
    for k in range(pairs):
        a = 0.02 * np.random.default_rng(100 + k).normal(size=4)
        f = a[0] * np.log(x[:, 0]) + a[1] * np.tanh(x[:, 4]) + a[2] * x[:, 5] * x[:, 6] + a[3] * np.sin(1.5 * x[:, 7])
        more = 0.03 * hidden * (x[:, 1] > 1)
        declared.append(Weights(f"pdf{k}", up=w * np.exp(f) * (1 + more), down=w * np.exp(-f) * (1 - more)))
        truths.append(f)
    return declared, truths


def eight_features(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(9)
    x = rng.normal(size=(n, 8))
    x[:, :4] = np.exp(0.5 * x[:, :4])
    return x, rng.uniform(0.5, 1.5, n)


def test_twenty_pairs_of_weights_close_and_cost_little_more_than_one() -> None:
    x, w = eight_features(40_000)
    declared, truths = pdf_like(x, w, 20)
    times = []
    for some in (declared[:1], declared):
        began = time.process_time()
        found = learned(some, x, w)
        times.append(time.process_time() - began)
    assert times[1] < 5 * times[0]
    assert len(found.closures) == 40
    assert all(closure.closes and closure.tells for closure in found.closures)
    effects = found.nuisances.of(x)
    for truth, effect in zip(truths, effects.each, strict=True):
        assert np.sqrt(np.mean((effect.at(1.0)[0] - truth) ** 2)) < 0.3 * EXPECTED**-0.5


def test_two_identical_variations_are_learned_alike() -> None:
    x, w = eight_features(5000)
    one, another = (Weights(name, up=w * np.exp(0.05 * np.tanh(x[:, 4]))) for name in ("a", "b"))
    found = learned([one, another], x, w, expected=200)
    slopes = found.nuisances.of(x).at(np.array([0.3, -0.2]))[1]
    np.testing.assert_allclose(slopes[:, 0], slopes[:, 1], rtol=1e-9)


def test_negative_weights_do_no_harm() -> None:
    rng = np.random.default_rng(10)
    x = rng.normal(size=(40_000, 1))
    w = np.where(rng.random(40_000) < 0.15, -1.0, 1.0)
    factor = np.exp(0.1 * np.tanh(x[:, 0]))
    # The variation has negative weights where the reference has none, too.
    flipped = np.where(rng.random(40_000) < 0.02, -1.0, 1.0) / 0.96
    found = learned([Weights("scale", up=w * factor * flipped)], x, w)
    grid = np.linspace(-2, 2, 41)[:, None]
    error = found.nuisances.of(grid).at(np.array([1.0]))[0] - 0.1 * np.tanh(grid[:, 0])
    assert np.sqrt(np.average(error**2, weights=np.exp(-(grid[:, 0] ** 2) / 2))) < 0.02


def test_the_share_of_a_process_is_learned() -> None:
    rng = np.random.default_rng(11)
    label = rng.random(40_000) < 0.3
    x = np.where(label, rng.normal(1.0, 1.0, 40_000), rng.normal(0.0, 1.0, 40_000))[:, None]
    found = learned([Process("ttbar", 0.1, label=label)], x)
    grid = np.linspace(-2, 3, 51)[:, None]
    share = 0.3 / (0.3 + 0.7 * np.exp(0.5 - grid[:, 0]))
    truth = np.log1p(np.expm1(0.2) * share)
    np.testing.assert_allclose(found.nuisances.of(grid).at(np.array([2.0]))[0], truth, atol=0.006)
    assert [closure.direction for closure in found.closures] == ["up", "down"]
    assert all(closure.closes for closure in found.closures)


def test_what_is_known_needs_no_closure_and_keeps_its_place() -> None:
    x, up, _ = exponentials(20_000, 0.05, 12)
    known = KnownRatio("known", lambda x, nu: 0.1 * nu * x[:, 0])
    found = learned([known, Shifted("scale", up=up), Normalisation("lumi", 0.03)], x, expected=200)
    assert found.nuisances.names == ("known", "scale", "lumi")
    assert [closure.name for closure in found.closures] == ["scale"]
    only = learned([Normalisation("lumi", 0.03)], x)
    assert only.closures == ()
    assert only.nuisances.names == ("lumi",)


def test_a_variation_that_cannot_be_learned_is_said() -> None:
    # Waves that no smooth function follows, of ten times the data's statistics.
    x = np.random.default_rng(13).random((40_000, 1))
    with pytest.warns(ClosureWarning, match="'waves' up does not close"):
        learned(
            [Weights("waves", up=1 + 0.3 * np.sign(np.sin(60 * x[:, 0])), down=np.ones(40_000))], x, expected=10_000
        )


def test_each_step_of_learning_is_told() -> None:
    x, up, _ = exponentials(4000, 0.05, 14)
    told: list[tuple[str, int, int]] = []
    declared = [Shifted("scale", up=up), Weights("pdf", up=np.exp(0.1 * np.tanh(x[:, 0]))), Normalisation("lumi", 0.1)]
    learned(declared, x, expected=20, progress=lambda *what: told.append(what))
    # Functions, weights, a sample, and four widths of the closure.
    assert [done for _, done, _ in told] == list(range(8))
    assert {(what, total) for what, _, total in told} == {("preparing uncertainties, steps", 7)}


def test_the_seed_decides_and_memory_does_not() -> None:
    x, up, _ = exponentials(20_000, 0.05, 15)
    first, again = (learned([Shifted("scale", up=up)], x, expected=200, seed=3) for _ in range(2))
    small = learned([Shifted("scale", up=up)], x, expected=200, seed=3, memory="6 MB")
    at = [found.nuisances.of(GRID[:, None]).at(np.array([1.0]))[0] for found in (first, again, small)]
    np.testing.assert_array_equal(at[0], at[1])
    np.testing.assert_allclose(at[0], at[2], atol=2e-4)


def test_bad_numbers_are_refused() -> None:
    x, up, _ = exponentials(150, 0.05, 16)
    with pytest.raises(InputError, match="reference has 150 events"):
        learned([Shifted("scale", up=up)], x)
    with pytest.raises(InputError, match="expected=0"):
        learned([Normalisation("lumi", 0.1)], x, expected=0)


def signed_mixture(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As many events of each of two processes, a fifth of negative weight; of one an event weighs ten times as much."""
    rng = np.random.default_rng(13)
    label = np.arange(n) % 2 == 0
    x = np.where(label, rng.normal(1.0, 1.0, n), rng.normal(0.0, 1.0, n))[:, None]
    return x, np.where(label, 0.1, 1.0) * np.where(rng.random(n) < 0.2, -1.0, 1.0), label


def with_local_mean(x: np.ndarray, w: np.ndarray) -> Sample:
    sample = Sample.of(x, weights=w)
    found = mean_weights(sample, Scaling.learn(sample, "robust"), seed=1, memory=10**9)
    return Sample(sample.features, sample.names, w, toy_weights=found.values)


def test_the_share_of_a_process_is_one_of_the_weights_also_where_their_local_mean_draws_toys() -> None:
    x, w, label = signed_mixture(60_000)
    reference = with_local_mean(x, w)
    found = learn(
        [Process("light", 0.3, label=label)], reference, expected=500, scaling=Scaling.learn(reference, "robust")
    )
    grid = np.linspace(-1.5, 2.5, 41)[:, None]
    share = 0.1 / (0.1 + np.exp(0.5 - grid[:, 0]))
    truth = np.log1p(np.expm1(0.3) * share)  # of the numbers of events it would be up to 8 times as large
    np.testing.assert_allclose(found.nuisances.of(grid).at(np.array([1.0]))[0], truth, atol=0.012)
    assert all(closure.closes and closure.tells for closure in found.closures)


def test_weights_that_vary_are_learned_where_the_local_mean_draws_toys() -> None:
    x, w, _ = signed_mixture(60_000)
    reference = with_local_mean(x, w)
    up = w * np.exp(0.1 * np.tanh(x[:, 0]))
    scaling = Scaling.learn(reference, "robust")
    found = learn([Weights("shape", up=up)], reference, expected=500, scaling=scaling)
    grid = np.linspace(-1.5, 2.5, 41)[:, None]
    error = found.nuisances.of(grid).at(np.array([1.0]))[0] - 0.1 * np.tanh(grid[:, 0])
    assert np.abs(error).max() < 0.01
    assert all(closure.closes and closure.tells for closure in found.closures)
    with pytest.warns(UncertaintyWarning, match="are the reference itself"):
        assert not len(learn([Weights("none", up=w.copy())], reference, expected=500, scaling=scaling).nuisances)


def test_a_sample_that_was_shifted_may_have_negative_weights() -> None:
    rng = np.random.default_rng(14)
    x = rng.normal(size=(60_000, 1))
    w = np.where(rng.random(60_000) < 0.2 * (np.abs(x[:, 0]) < 1), -1.0, 1.0)
    reference = with_local_mean(x, w)
    scaling = Scaling.learn(reference, "robust")
    found = learn([Shifted("scale", up=Sample.of(x + 0.05, weights=w))], reference, expected=500, scaling=scaling)
    plain = learn([Shifted("scale", up=x[w > 0] + 0.05)], Sample.of(x[w > 0]), expected=500, scaling=scaling)
    grid = np.linspace(-2.5, -1.2, 14)[:, None]  # where no weight is negative
    slopes = [one.nuisances.of(grid).at(np.array([1.0]))[0] for one in (found, plain)]
    truth = 0.05 * grid[:, 0] - 0.05**2 / 2
    assert np.abs(slopes[0] - truth).max() < 0.03
    assert np.abs(slopes[1] - truth).max() < 0.03
    assert all(closure.closes for closure in found.closures)
