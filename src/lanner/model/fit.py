"""`fit_ratio`: from a reference sample and a data sample to the learned ratio."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lanner._util.machine import memory_budget
from lanner._util.text import shown
from lanner._util.values import as_number
from lanner.errors import InputError, SeparationWarning
from lanner.events import Sample, Scaling, match_columns
from lanner.events.sample import check_varies
from lanner.model.backend import arrays_on
from lanner.model.kernel import GaussianKernel, pairwise_width
from lanner.model.ratio import LearnedRatio, settings_of_ratio
from lanner.model.single_fit import fit_single, warn_unless_converged
from lanner.model.weightings import DATA, REFERENCE, Weightings
from lanner.settings import EXPECTED, PENALTY, FitSettings, spelled_out
from lanner.typing import Array

# Below these, t says nothing: a fitted ratio has about as many parameters as there are events.
MIN_REFERENCE, MIN_DATA = 20, 5


@spelled_out
def fit_ratio(
    reference: Any,
    data: Any,
    *,
    expected: float | None,
    width: float | None = None,
    penalty: float | Sequence[float] = 1e-6,
    centers: int | Any | None = None,
    newton_steps: int | None = None,
    loss: str = "logistic",
    solver: str = "newton",
    statistic: str = "likelihood-ratio",
    scaling: str | None = None,
    memory: float | str | None = None,
    rng: np.random.Generator | int | None = None,
    precision: str = "single",
    tolerance: float | None = None,
    trace_error: float | None = None,
    device: str = "cpu",
) -> LearnedRatio:
    """Learn the log-ratio of data to reference, and the test statistic t (Sec. 2 and 3 of the paper).

    Parameters
    ----------
    reference : array_like, mapping, data frame or Sample
        Events of the reference model, one a row, with event weights if it is a `Sample` that has them.
    data : array_like, mapping, data frame or Sample
        The measured events, with the columns of the reference, weighted or not.
    expected : float or None
        N(0), the number of data events that the reference predicts. None: the number observed, for a test of the shape
        alone.
    width : float, optional
        Width of the Gaussian kernel (sigma), in units of the scaled features. Default: the 90th percentile of the
        distances between reference events.
    penalty : float or sequence of float, default 1e-6
        Lambda, the weight of |f|^2 / 2. A decreasing sequence warms up: one Newton step at each but the last.
    centers : int or array_like, optional
        How many candidate centres to draw from all events (M), of which a pivoted Cholesky keeps those that matter to
        t; or an array of points to use as they are. Default: about 10 sqrt(n).
    newton_steps : int, optional
        Newton steps of the fit; 1, one step from f = 0, is the paper's mode. Default: to convergence.
    loss : {"logistic", "extended"}, default "logistic"
        The weighted cross-entropy (Eq. wbce) or the extended likelihood (Eq. loss_nplm).
    solver : {"newton", "falkon"}, default "newton"
        Falkon (Appendix B) is for many centres without low rank: all are used, none stored.
    statistic : {"likelihood-ratio", "score"}, default "likelihood-ratio"
        The paper's t; or t to second order, with one step instead of a fit.
    scaling : {"robust", "standard", "authors"} or None, default None
        Scaling of the features, learned on the reference alone.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    rng : Generator or int, optional
        Random numbers for the draw of centres, or their seed. Default: another seed each time.
    precision : {"single", "double"}, default "single"
        In which features are stored and multiplied; sums are always double.
    tolerance : float, optional
        Newton decrement at which the fit has converged. Default: 1e-3 in single precision, 1e-7 in double.
    trace_error : float, optional
        Part of the kernel to leave out. Default: what the penalty makes harmless.
    device : str, default "cpu"
        Where features are kept and multiplied: "cpu" (NumPy), "torch" (on the CPU), "cuda" or "cuda:1".

    Returns
    -------
    LearnedRatio
        The log-ratio f(x), its test statistic t, and how the fit went.

    Raises
    ------
    InputError
        If the samples or settings cannot be used as they are.
    MemoryBudgetError
        If the memory budget is too small for even one block of the computation.
    NotConvexError
        If negative event weights leave the problem without a minimum.

    Warns
    -----
    ConvergenceWarning
        If the fit stopped before it had converged.
    SeparationWarning
        If the fitted ratio separates data and reference completely.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(5000, 1)), rng.exponential(size=(500, 1))
    >>> ratio = lanner.fit_ratio(reference, data, expected=500, width=2.0, rng=1)
    >>> ratio.converged, ratio.log_ratio([[0.5], [3.0]]).shape
    (True, (2,))
    """
    penalties = _penalties(penalty)
    settings = FitSettings(
        statistic=statistic,
        penalty=penalties[-1],
        newton_steps=newton_steps,
        loss=loss,
        solver=solver,
        precision=precision,
        tolerance=tolerance,
        trace_error=trace_error,
    )
    if device != "cpu":
        arrays_on(device)  # an error now, and not after the events are read
        if solver == "falkon":
            raise InputError(f"device={device!r}: solver='falkon' runs on the CPU alone; use solver='newton'")
    budget = memory_budget(memory)
    rng = np.random.default_rng(rng)
    reference = Sample.of(reference, label="reference")
    data = match_columns(reference, Sample.of(data, label="data"))
    check_varies(reference, "reference")
    check_enough(reference, "reference", MIN_REFERENCE)
    check_enough(data, "data", MIN_DATA)
    n0_expected = data.total_weight if expected is None else check_expected(expected)
    units = Scaling.learn(reference, scaling)
    events = np.vstack([units.apply(reference.features), units.apply(data.features)])
    kernel = GaussianKernel(
        _chosen_width(events[: len(reference)], rng) if width is None else as_number(width, "width")
    )
    points, given = _candidates(centers, events, units, rng)
    fit = fit_single(
        events,
        _weighting(reference, data, n0_expected),
        events_in_objective=len(events),
        expected=n0_expected,
        kernel=kernel,
        candidates=points,
        settings=settings,
        penalties=penalties,
        memory=budget,
        rng=rng,
        thinned=not given or trace_error is not None,
        device=device,
    )
    warn_unless_converged(fit, settings, stacklevel=4)  # whoever called, past `spelled_out`
    if fit.gap is not None:
        warnings.warn(
            f"the fitted ratio separates data and reference completely (log ratio below {fit.gap[0]:.3g} on the whole "
            f"reference, above {fit.gap[1]:.3g} on all data): its size is set by the penalty, not by the events; check "
            "that both samples have the same units and selection",
            SeparationWarning,
            stacklevel=3,
        )
    return LearnedRatio(
        statistic=fit.statistic,
        converged=fit.converged,
        iterations=fit.iterations,
        rank=len(fit.centers),
        trace_error=fit.trace_error,
        decrement=fit.decrement,
        names=reference.names,
        expected=n0_expected,
        reference_size=len(reference),
        reference_worth=reference.worth,
        data_size=len(data),
        shape_only=expected is None,
        width=kernel.width,
        **settings_of_ratio(settings),
        scaling=units,
        centers=fit.centers,
        coefficients=fit.coefficients,
        spectrum=fit.spectrum,
    )


def check_expected(expected: Any) -> float:
    """The number of data events that the reference predicts, or an error that says what to give."""
    number = as_number(expected, "expected")
    if not EXPECTED.least <= number <= EXPECTED.most:
        raise InputError(
            f"expected={shown(expected)}: the number of data events that the reference predicts must be positive and "
            f"finite, from {EXPECTED.least:g} to {EXPECTED.most:g}; use expected=None to test the shape alone"
        )
    return number


def _penalties(penalty: float | Sequence[float]) -> tuple[float, ...]:
    """A penalty, or several that decrease."""
    several = isinstance(penalty, Sequence | np.ndarray) and not isinstance(penalty, str) and np.ndim(penalty) == 1
    penalties = tuple(as_number(p, "penalty") for p in (penalty if several else [penalty]))  # type: ignore[union-attr]
    if not penalties or not all(PENALTY.least <= p <= PENALTY.most for p in penalties):
        raise InputError(
            f"penalty={shown(penalty)}: it must be a positive number, such as 1e-6, or several, from "
            f"{PENALTY.least:g} to {PENALTY.most:g}"
        )
    if any(later >= earlier for earlier, later in pairwise(penalties)):
        raise InputError(f"penalty={penalty!r}: a sequence of penalties must decrease")
    return penalties


def check_enough(sample: Sample, label: str, least: int) -> None:
    """Refuse a sample too small to learn a ratio from."""
    if len(sample) < least:
        raise InputError(
            f"the {label} has {len(sample)} events; with fewer than {least} a fitted ratio means nothing: "
            "use more events, or a counting experiment"
        )


def default_centers(n: int) -> int:
    """About 10 sqrt(n) candidates, where the paper asks for sqrt(n) or more (its own runs: 7 to 58 sqrt(n))."""
    return min(n, max(1000, int(10 * n**0.5)))


def _chosen_width(reference: Array, rng: np.random.Generator) -> float:
    width = pairwise_width(reference, rng=rng)
    if not width > 0:
        raise InputError(
            "nine of ten distances between reference events are 0, so no kernel width follows from them: give width=, "
            "or drop features that hardly vary"
        )
    return width


def _candidates(centers: Any, events: Array, units: Scaling, rng: np.random.Generator) -> tuple[Array, bool]:
    """The candidate centres, scaled, and whether they were given as points."""
    n, d = len(events), len(units.names)
    if centers is None:
        centers = default_centers(n)
    if np.ndim(centers) == 0:
        number = as_number(centers, "centers")
        if not number.is_integer() or number < 1:
            raise InputError(f"centers={centers!r}: give a whole number of centres, 1 or more, or an array of points")
        if centers > n:
            raise InputError(f"centers={centers}: more centres than events ({n}); give at most {n}")
        return events[rng.choice(n, int(centers), replace=False)], False
    points = Sample.of(centers, label="centers")
    if points.dimensions != d:
        raise InputError(f"the centers have {points.dimensions} columns, the samples have {d}; give the same features")
    return units.apply(points.features), True


def _weighting(reference: Sample, data: Sample, expected: float) -> Weightings:
    roles = np.repeat(np.array([REFERENCE, DATA], dtype=np.int8), [len(reference), len(data)])[:, None]
    weights = data_weights = None
    # Each sample's weights stand in its own rows alone: theirs may differ by more than single precision spans.
    if reference.weights is not None:
        weights = np.concatenate([reference.weights, np.zeros(len(data))])
    if data.weights is not None:
        data_weights = np.concatenate([np.zeros(len(reference)), data.weights])
    return Weightings.of(roles, expected=expected, weights=weights, data_weights=data_weights)
