"""Decisions, against integrals, direct loops as textbooks have them, and independent streams."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import zeta

from lanner.monitor.decisions import Evidence, FlaggedList, log_e_value, thresholds_of

RNG = np.random.default_rng(11)


def log_p(streams: int, length: int, windows: tuple[int, ...] = ()) -> dict[int, np.ndarray]:
    """Of independent batches; in place of windows the same p-values again."""
    return {k: np.log(RNG.random((streams, length))) for k in (1, *windows)}


def test_the_mean_of_e_is_one_where_p_is_uniform() -> None:
    # In x = -log p, whose density is e^-x.
    mean = quad(lambda x: np.exp(float(log_e_value(np.array([-x]))[0]) - x), 0, np.inf, limit=500)[0]
    # The tail of the integrand is 1 / x^2: what quad leaves out beyond x is 1 / x.
    assert mean == pytest.approx(1.0, abs=2e-3)


def test_e_is_the_mixture_over_kappa() -> None:
    for p in (1e-12, 1e-3, 0.2, 0.999, 1 - 1e-7):
        truth = quad(lambda kappa, p=p: kappa * p ** (kappa - 1), 0, 1)[0]
        assert np.exp(log_e_value(np.log([p])))[0] == pytest.approx(truth, rel=1e-6)


def test_evidence_is_the_recursion_of_shiryaev_and_roberts() -> None:
    p = RNG.random(50)
    evidence, r, product = Evidence(), 0.0, 1.0
    for value in p:
        e = (1 - value + value * np.log(value)) / (value * np.log(value) ** 2)
        evidence, r, product = evidence.after(float(np.log(value))), (1 + r) * e, product * e
    assert evidence.log_r == pytest.approx(np.log(r))
    assert evidence.log_product == pytest.approx(np.log(product))


def test_after_an_alarm_evidence_begins_anew_and_the_product_goes_on() -> None:
    evidence = Evidence().after(-20.0).reset()
    assert evidence.log_r == -np.inf
    assert evidence.log_product == pytest.approx(float(log_e_value(np.array([-20.0]))[0]))


def test_the_product_of_e_values_stays_below_villes_bound() -> None:
    running = np.cumsum(log_e_value(log_p(4000, 300)[1]), axis=1).max(axis=1)
    assert np.mean(running >= np.log(20)) <= 0.05


@pytest.mark.parametrize("run_length", [30.0, 200.0])
def test_thresholds_give_the_rate_that_was_asked_for_on_new_streams(run_length: float) -> None:
    thresholds = thresholds_of(log_p(400, 200, (2, 4)), run_length)
    new = log_p(1000, 200, (2, 4))
    e_values = np.exp(log_e_value(new[1]))
    single = np.mean(new[1] <= thresholds.single)
    # Batch by batch, as a monitor goes, and not as the thresholds were found.
    windows = drift = 0
    for stream in range(1000):
        since, r = 0, 0.0
        for t in range(200):
            since, r = since + 1, (1 + r) * e_values[stream, t]
            if any(since >= k and new[k][stream, t] <= thresholds.windows for k in (2, 4)):
                windows, since = windows + 1, 0
            if np.log(r) >= thresholds.drift:
                drift, r = drift + 1, 0.0
    goal = 1 / run_length
    assert single == pytest.approx(goal, rel=0.15)
    assert windows / 200_000 == pytest.approx(goal, rel=0.25)
    assert drift / 200_000 == pytest.approx(goal, rel=0.25)


def test_what_is_not_promised_has_no_threshold() -> None:
    thresholds = thresholds_of(log_p(20, 50), 100.0, drift=False)
    assert thresholds.windows is None
    assert thresholds.drift is None
    assert thresholds.to_dict() == {"single": -np.log(100.0), "windows": None, "drift": None}


def share(t: int) -> float:
    return float(1 / (t**1.6 * zeta(1.6)))


@pytest.fixture(scope="module")
def p_with_departures() -> np.ndarray:
    p = RNG.random(60)
    p[[3, 4, 20, 41, 42, 43]] = [1e-7, 1e-4, 1e-9, 1e-6, 2e-5, 1e-12]
    return p


def test_lord_plus_plus_is_its_textbook_loop(p_with_departures: np.ndarray) -> None:
    alpha, wealth, times = 0.05, 0.025, list[int]()
    for t, p in enumerate(p_with_departures, start=1):
        level = share(t) * wealth
        if times:
            level += (alpha - wealth) * share(t - times[0])
        level += alpha * sum(share(t - tau) for tau in times[1:])
        if p <= level:
            times.append(t)
    flagged = FlaggedList(alpha)
    for p in p_with_departures:
        flagged = flagged.after(float(np.log(p)))
    assert len(times) >= 4
    assert flagged.by_lord == tuple(t - 1 for t in times)


def test_e_lond_is_its_textbook_loop(p_with_departures: np.ndarray) -> None:
    alpha, times = 0.05, list[int]()
    for t, p in enumerate(p_with_departures, start=1):
        e = (1 - p + p * np.log(p)) / (p * np.log(p) ** 2)
        if e >= 1 / (alpha * share(t) * (len(times) + 1)):
            times.append(t)
    flagged = FlaggedList(alpha)
    for p in p_with_departures:
        flagged = flagged.after(float(np.log(p)))
    assert len(times) >= 3
    assert flagged.by_e == tuple(t - 1 for t in times)


def test_of_good_batches_alone_a_list_flags_any_as_rarely_as_it_says() -> None:
    by_e = by_lord = 0
    for stream in log_p(600, 40)[1]:
        flagged = FlaggedList(0.2)
        for value in stream:
            flagged = flagged.after(float(value))
        by_e, by_lord = by_e + bool(flagged.by_e), by_lord + bool(flagged.by_lord)
    # Of 600 streams with a chance of 0.2 there are more than 150 once in 1000.
    assert by_e <= by_lord <= 150
    assert by_lord > 10
