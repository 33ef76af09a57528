"""`RatioProfile`: the learned ratio seen along one variable, whether the fit used it or not.

As in the paper's "Learned density ratio": the reference, reweighted by e^f, over the reference as it is, per bin.
Beside it the data over the reference, and what the same learned ratio does in null toys, which is the measure of how
much of its wiggling means nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from lanner.errors import InputError
from lanner.events import Sample
from lanner.model.ratio import LearnedRatio
from lanner.report.binning import Bins, bin_numbers, choose_edges, histogram
from lanner.report.learned import Learned
from lanner.report.look import Look
from lanner.typing import Array

if TYPE_CHECKING:
    from hist import Hist
    from matplotlib.axes import Axes


BAND = (0.025, 0.16, 0.5, 0.84, 0.975)  # quantiles of the null toys: median, 68 % and 95 %
_ONE_SIGMA = 0.158655  # on either side of a 68.3 % interval
_PLAIN = Look()


@dataclass(frozen=True, eq=False)
class RatioProfile:
    """Histograms along one variable and the ratios between them.

    Every array has the underflow first and the overflow last, as `hist` gives it with flow=True. The histograms are
    scaled to the expected number of events; a ratio is NaN where the reference has no events.
    """

    name: str
    fitted: bool  # whether the variable is one of the fit's
    reference: Hist[Any]
    reweighted: Hist[Any]  # the reference, each event times e^f
    data: Hist[Any]
    null_ratios: Array | None  # (bins, toys): the learned ratio of null toys
    null_events: int  # reference events on which they were evaluated
    own_ratio: Array  # the learned ratio on those same events, for a fair comparison
    without: tuple[int, int] = (0, 0)  # events of the reference and of the data that have no value and are not shown
    uncertainty: Array | None = None  # error of the reference's events in each bin from its systematic uncertainties
    axis: str | None = None  # what stands on its axis; None: the name
    stack: tuple[tuple[str, Array], ...] = ()  # the processes of the reference, and their events in each bin

    @property
    def edges(self) -> Array:
        """Bin edges, without the open ends."""
        return np.asarray(self.reference.axes[0].edges, dtype=np.float64)

    @property
    def learned_ratio(self) -> Array:
        """Reweighted over reference."""
        return _over(contents(self.reweighted), contents(self.reference))

    @property
    def data_ratio(self) -> Array:
        """Data over reference, and the ends of its 68 % Poisson interval: shape (3, bins).

        The interval is that of the data's counts alone (Garwood); the reference's own error is not in it.
        """
        counts, expected = contents(self.data), contents(self.reference)
        return np.stack([_over(row, expected) for row in (counts, *poisson_interval(counts))])

    @property
    def band(self) -> Array | None:
        """Quantiles (see `BAND`) of the learned ratio in null toys: shape (5, bins); None without toys."""
        return None if self.null_ratios is None else np.quantile(self.null_ratios, BAND, axis=1)

    @property
    def ratio_uncertainty(self) -> Array | None:
        """That error over the events, where there are any; None if the reference was taken as exact."""
        return None if self.uncertainty is None else _over(self.uncertainty, contents(self.reference))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the ratios; `figure_of_profile` has the distributions above them."""
        from lanner.report.plots.profile import plot_ratio

        return plot_ratio(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain JSON; underflow first, overflow last, and null where the reference is empty."""
        data, low, high = self.data_ratio
        arrays = {
            "learned_ratio": self.learned_ratio,
            "data_ratio": data,
            "data_ratio_low": low,
            "data_ratio_high": high,
        }
        if self.ratio_uncertainty is not None:
            arrays |= {"reference_uncertainty": self.ratio_uncertainty}
        if self.band is not None:
            arrays |= {f"null_{q:g}": row for q, row in zip(BAND, self.band, strict=True)}
        head = {"name": self.name, "fitted": self.fitted, "edges": self.edges.tolist()}
        if any(self.without):
            head["without_value"] = dict(zip(("reference", "data"), self.without, strict=True))
        return head | {name: [float(x) if np.isfinite(x) else None for x in values] for name, values in arrays.items()}


def ratio_against(
    ratio: LearnedRatio,
    reference: Sample,
    data: Sample,
    values_reference: ArrayLike,
    values_data: ArrayLike,
    *,
    name: str,
    expected: float,
    bins: Bins = None,
    null_coefficients: Array | None = None,
    rng: np.random.Generator | None = None,
) -> RatioProfile:
    """The learned ratio against one variable, of which the values are given row by row.

    For several variables use `characterise`, which evaluates the ratio once for all.

    Parameters
    ----------
    ratio : LearnedRatio
        The data's fit.
    reference, data : Sample
        The samples it was made from, with the reference's weights.
    values_reference, values_data : array of float
        The variable, one value per event of each sample.
    name : str
        Of the variable.
    expected : float
        N(0), to which the reference is scaled.
    bins : int or sequence of float, optional
        Their number or their edges. By default about 30 over the central 99.5 %, and one for each value of a whole
        number.
    null_coefficients : ndarray of shape (rank, toys), optional
        One column per null toy, with the centres of `ratio` (`SearchResult.null_coefficients`): the band.
    rng : numpy.random.Generator, optional
        Draws the reference events for the band where there are more than 50 000.

    Returns
    -------
    RatioProfile
        Histograms along the variable and the ratios between them.

    Raises
    ------
    InputError
        If a sample and its values do not belong together, or the bins cannot be used.
    """
    learned = Learned.evaluate(ratio, reference, data, expected=expected, null_coefficients=null_coefficients, rng=rng)
    columns = [
        _column(values, len(sample), f"the values of {name!r} for the {label}")
        for values, sample, label in ((values_reference, reference, "reference"), (values_data, data, "data"))
    ]
    return make_profile(learned, *columns, name=name, fitted=name in ratio.names, bins=bins)


def make_profile(
    learned: Learned,
    values_reference: Array,
    values_data: Array,
    *,
    name: str,
    fitted: bool,
    bins: Bins = None,
    look: Look = _PLAIN,
) -> RatioProfile:
    """The profile along one variable of a ratio that is evaluated already."""
    known, known_data = np.isfinite(values_reference), np.isfinite(values_data)
    values, values_data = values_reference[known], values_data[known_data]
    edges = choose_edges(values, values_data, bins, name=name)
    places = np.full(len(known), len(edges) + 1)  # one more bin for events without a value, which is not kept
    places[known] = bin_numbers(values, edges)
    own, null = learned.binned(places, len(edges) + 2)
    share = learned.share[known]
    error = learned.uncertainty(places, len(edges) + 2)
    return RatioProfile(
        name=name,
        fitted=fitted,
        reference=histogram([values], [edges], [name], share),
        reweighted=histogram([values], [edges], [name], share * learned.ratio_reference[known]),
        data=histogram([values_data], [edges], [name]),
        null_ratios=None if null is None else null[:-1],
        null_events=int(np.count_nonzero(known[learned.rows])),
        own_ratio=own[:-1],
        without=(int(np.count_nonzero(~known)), int(np.count_nonzero(~known_data))),
        uncertainty=None if error is None else error[:-1],
        axis=look.axes.get(name),
        stack=_stack(look, places, learned.share, len(edges) + 1),
    )


def _stack(look: Look, places: Array, share: Array, bins: int) -> tuple[tuple[str, Array], ...]:
    """The events of each process in each bin, open ends included; of a place beyond the bins none are kept."""
    if look.process is None:
        return ()
    of_process = ((name, look.process == k) for k, name in enumerate(look.processes))
    counted = ((name, np.bincount(places[i], share[i], minlength=bins + 1)[:bins]) for name, i in of_process)
    return tuple((name, np.asarray(events, dtype=np.float64)) for name, events in counted)


def poisson_interval(counts: Array) -> tuple[Array, Array]:
    """The ends of the 68 % interval of the mean of each count (Garwood)."""
    low = np.where(counts > 0, stats.gamma.ppf(_ONE_SIGMA, np.maximum(counts, 1)), 0.0)
    return low, stats.gamma.isf(_ONE_SIGMA, counts + 1)


def contents(filled: Hist[Any]) -> Array:
    """The sums of weights in the bins, open ends included."""
    return np.asarray(filled.values(flow=True), dtype=np.float64)


def _over(numerator: Array, denominator: Array) -> Array:
    """Their quotient, NaN where there is no (positive) reference."""
    quotient: Array = np.full(len(denominator), np.nan)
    return np.divide(numerator, denominator, out=quotient, where=denominator > 0)


def _column(values: ArrayLike, events: int, what: str) -> Array:
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (events,):
        raise InputError(f"{what} have shape {column.shape}: give one value per event, shape ({events},)")
    bad = events - int(np.count_nonzero(np.isfinite(column)))
    if bad:
        raise InputError(f"{what} are NaN or infinite in {bad} of {events} events: replace those values")
    return column
