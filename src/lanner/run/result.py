"""`SearchResult`: what a search found, as data. How it reads is in `lanner.report`, how it is kept in `result_io`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanner.inference.null import Null
from lanner.inference.plan import Plan
from lanner.inference.sequential import Stopping
from lanner.inference.significance import z_of_log_p
from lanner.inference.terms import OutOfReach
from lanner.model.ratio import LearnedRatio
from lanner.run.counted import Counted
from lanner.run.parts import Combined, Extrapolation, Spread
from lanner.run.systematics import Systematics
from lanner.run.uncertain import Nuisance
from lanner.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class SearchResult(Counted):
    """What a search found: the test statistic, its null distribution, the p-value and the learned ratio.

    The result is the empirical p-value, a count of null toys. Where no toy is as extreme as the data, a law may
    extrapolate beyond them: of a single statistic `analytic` and `chi2`, of a combination of scales `tail`.

    Parameters
    ----------
    statistic : float
        The test statistic of the data: t of a single scale, or -ln p of the combination of several.
    null : Null
        The statistic of the null toys, none of them left out, and the laws that extrapolate beyond them.
    ratio : LearnedRatio
        The learned log-ratio of data to reference; of several scales, that of the most significant one.
    plan : Plan
        How every fit was made; of several scales, at the most significant one.
    data_size : int
        Number of data events.
    reference_total : int
        Number of reference events that were given.
    warnings : tuple of str
        What the search warned of.
    null_coefficients : ndarray of shape (rank, toys) or None
        Kernel coefficients of some null toys' ratios, with the centres of `ratio`: the bands of plots.
    inputs : tuple of (str, str)
        Names and descriptions of the files that were read, if any.
    digests : tuple of (str, str)
        SHA-256 of the events of reference and data, by which they are recognised.
    stopping : Stopping or None
        When to stop making toys; None where their number was fixed beforehand.
    combined : Combined or None
        How several scales were combined and what each finds by itself; None for a single scale.
    seconds : float
        Duration of the search in seconds.
    spread : Spread or None
        How much Z depends on what is random in the method; None where it is not known.
    out_of_reach : OutOfReach or None
        Data events beyond the reference, at the width where they are most surprising; None of a permutation.
    looks : tuple of int
        Numbers of toys of earlier results on the same data in the same folder, where they were fewer.
    nuisances : tuple of Nuisance
        What was found of each systematic uncertainty; none where the reference was taken as exact.
    systematics : Systematics
        Whether their variations close, what the same test says without them, and the reference as they were fitted.
    numbers : tuple of (str, int)
        Versions of the statistic and of the toys' scheme, of which only the same may be compared.
    left_out : tuple of (str, str)
        Columns of the reference that were no features because nobody named these, each with the reason.
    unblinded : str or None
        When the data of a blind search were looked at (UTC); None if the search was not blind.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> result = lanner.search(reference, data, expected=200, toys=90, seed=1)
    >>> result.verdict().startswith("The data are compatible with the reference (p = 0.")
    True
    >>> result.to_dict()["schema"]
    'lanner.result/6'
    >>> result.plot().get_xlabel()
    'combined statistic −ln p'
    """

    statistic: float
    null: Null
    ratio: LearnedRatio
    plan: Plan
    data_size: int
    reference_total: int
    warnings: tuple[str, ...] = ()
    null_coefficients: Array | None = None
    inputs: tuple[tuple[str, str], ...] = ()
    digests: tuple[tuple[str, str], ...] = ()
    stopping: Stopping | None = None
    combined: Combined | None = None
    seconds: float = 0.0
    spread: Spread | None = None
    out_of_reach: OutOfReach | None = None
    looks: tuple[int, ...] = ()
    nuisances: tuple[Nuisance, ...] = ()
    systematics: Systematics = field(default_factory=Systematics)
    numbers: tuple[tuple[str, int], ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    unblinded: str | None = None

    @property
    def chi2(self) -> Extrapolation | None:
        """The chi2 fitted to the toys, the paper's asymptotic formula; None where no chi2 describes them."""
        fit = self.null.chi2
        return None if fit is None else Extrapolation(fit.p_value(self.statistic), fit.z_score(self.statistic))

    @property
    def analytic(self) -> Extrapolation | None:
        """The analytic null, which no toy has a part in; None for a combination of scales."""
        if self.null.analytic is None:
            return None
        log_p = float(self.null.analytic.logsf(self.statistic))
        return Extrapolation(math.exp(log_p), z_of_log_p(log_p))

    @property
    def tail(self) -> Extrapolation | None:
        """The tail fitted to the highest toys of a combination, where toys alone leave p uncertain.

        None for a single scale, with too few toys, and where so many are as extreme as the data that counting them is
        better than any law.
        """
        return self._by_tail(self.null.tail)

    @property
    def beyond(self) -> tuple[str, Extrapolation] | None:
        """The law to quote beyond the toys, with its name; None if there is none that the toys confirm."""
        if self.analytic is not None and self.null.analytic_confirmed:
            return "analytic null", self.analytic
        tail = self.null.trusted_tail
        if tail is not None and self.tail is not None:
            return "tail fitted to the toys", self.tail
        return None

    def verdict(self) -> str:
        """Return the outcome in one sentence, with its p-value.

        Returns
        -------
        str
            A sentence such as "The data are compatible with the reference (p = 0.42, Z = 0.20).", and nothing else.
        """
        from lanner.report.text.verdict import verdict

        return verdict(self)

    def summary(self) -> str:
        """Return the verdict and the numbers behind it, one a line.

        Returns
        -------
        str
            What `print(result)` shows.
        """
        from lanner.report.text.summary import summary

        return summary(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the null distribution of the test statistic with the observed one.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure, which is `ax.figure`.

        Returns
        -------
        matplotlib.axes.Axes
            The axes that were drawn on.
        """
        from lanner.report.plots.search import plot_null

        return plot_null(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the arrays of the fit as plain JSON.

        Returns
        -------
        dict
            The entries that `lanner/run/result.schema.json` describes.
        """
        from lanner.run.result_plain import result_to_dict

        return result_to_dict(self)

    def to_json(self, indent: int | None = 1) -> str:
        """Return `to_dict` as JSON text.

        Parameters
        ----------
        indent : int or None, default 1
            Spaces by which each level is indented; None for a single line.

        Returns
        -------
        str
            What `result.json` holds.
        """
        from lanner.run.result_plain import result_to_json

        return result_to_json(self, indent)

    def save(self, folder: str | Path) -> Path:
        """Write the result to a folder, as `lanner.save_result` does.

        Parameters
        ----------
        folder : str or Path
            Where to write; made if it is not there.

        Returns
        -------
        Path
            Of `result.json` in that folder.
        """
        from lanner.run.result_io import save_result

        return save_result(self, folder)

    @classmethod
    def load(cls, folder: str | Path) -> SearchResult:
        """Read a result from a folder, as `lanner.load_result` does.

        Parameters
        ----------
        folder : str or Path
            What `save` wrote to.

        Returns
        -------
        SearchResult
            The result as it was.
        """
        from lanner.run.result_io import load_result

        return load_result(folder)

    def __str__(self) -> str:
        return self.summary()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from lanner.report.text.summary import summary_html

        return summary_html(self)
