"""`LearnedRatio`: what a fit returns."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lanner._util.files import arrays_from_bytes, read_arrays, write_arrays
from lanner._util.text import as_html, as_text
from lanner.errors import InputError
from lanner.events import Sample, Scaling, match_columns
from lanner.model.kernel import GaussianKernel, kernel_sum
from lanner.model.moments import Spectrum
from lanner.settings import FitSettings
from lanner.typing import Array

FORMAT = "lanner.LearnedRatio/2"
_ARRAYS = ("centers", "coefficients")
_LEAST = 0.05  # the ratio that a step into nothing ends at


def settings_of_ratio(settings: FitSettings) -> dict[str, Any]:
    """What a ratio keeps of the settings of its fit; the score statistic is a single Newton step."""
    score = settings.statistic == "score"
    return {
        "penalty": settings.penalty,
        "loss": settings.loss,
        "solver": "score" if score else settings.solver,
        "newton_steps": 1 if score else settings.newton_steps,
    }


@dataclass(frozen=True, eq=False)
class LearnedRatio:
    """The learned log-ratio f(x) = log n(x|data) / n(x|reference), its test statistic t, and how the fit went.

    Parameters
    ----------
    statistic : float
        The test statistic t = 2 [sum_data f - a0 sum_reference (e^f - 1)] (Eq. t).
    converged : bool
        Whether the problem that was asked for was solved: the minimum, or `newton_steps` Newton steps.
    iterations : int
        Passes over the events.
    rank : int
        Number of centres that were kept.
    trace_error : float
        The part of the kernel that the `rank` centres leave out, averaged over the candidates.
    decrement : float
        The Newton decrement at the end, in units of the statistical error of f; t is accurate to 2 sqrt(t) times that.
    names : tuple of str
        Names of the features.
    expected : float
        N(0), the number of data events that the reference predicts.
    reference_size : int
        Number of reference events.
    reference_worth : float
        (sum w)^2 / sum w^2 of the reference's event weights; its size without weights.
    data_size : int
        Number of data events.
    shape_only : bool
        Whether `expected` is the number of data, which is then not tested.
    width : float
        Width of the Gaussian kernel, in units of the scaled features.
    penalty : float
        Lambda, the weight of |f|^2 / 2.
    loss : str
        The loss of the fit, "logistic" or "extended".
    solver : str
        How it was solved: "newton", "falkon" or "score".
    newton_steps : int or None
        Newton steps of the fit; None: to convergence.
    scaling : Scaling
        From the units of the events to those of the kernel.
    centers : ndarray of shape (rank, features)
        The centres, scaled.
    coefficients : ndarray of shape (rank,)
        The weight of each centre's kernel in f.
    spectrum : Spectrum or None
        The moments of the features in the reference; Falkon knows none.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.normal(size=(4000, 1)), rng.normal(0.5, 1.0, (400, 1))
    >>> ratio = lanner.fit_ratio(reference, data, expected=400, width=1.0, rng=1)
    >>> below, above = ratio.ratio([[-1.0], [1.0]])
    >>> bool(below < 1 < above)
    True
    """

    statistic: float
    converged: bool
    iterations: int
    rank: int
    trace_error: float
    decrement: float
    names: tuple[str, ...]
    expected: float
    reference_size: int
    reference_worth: float  # (sum w)^2 / sum w^2 of the reference's event weights; its size without weights
    data_size: int
    shape_only: bool  # expected is the number of data, which is not tested
    width: float
    penalty: float
    loss: str
    solver: str
    newton_steps: int | None
    scaling: Scaling
    centers: Array  # (rank, columns), scaled
    coefficients: Array  # (rank,)
    spectrum: Spectrum | None  # of the features in the reference; Falkon knows none

    def log_ratio(self, x: Any) -> Array:
        """Log-ratio f(x) of any events.

        Parameters
        ----------
        x : array_like, mapping, data frame or Sample
            Events with the features of the fit, one a row, in their own units.

        Returns
        -------
        ndarray of shape (events,)
            The log-ratio of data to reference at each event.

        Raises
        ------
        InputError
            If the events lack a feature of the fit.
        """
        like = Sample(self.scaling.inverse(self.centers[:1]), self.names)
        events = match_columns(like, Sample.of(x, label="events"), labels=("fit", "events")).features
        return self.linked(
            kernel_sum(GaussianKernel(self.width), self.centers, self.coefficients, self.scaling.apply(events))
        )

    def linked(self, sums: Array) -> Array:
        """Log-ratio f from sums of kernels: the sums themselves, or, of a score's single step from f = 0, log(1 + sum).

        A step knows f to first order, where the log-ratio and the ratio less 1 are the same. Only the latter stays
        right for strong excesses: ten events where one is expected are a step of 9, and e^9 would be a ratio of 8000.

        Parameters
        ----------
        sums : ndarray
            Sums of kernels, each times its coefficient.

        Returns
        -------
        ndarray
            The log-ratio, of the same shape.
        """
        return np.log(np.maximum(1 + sums, _LEAST)) if self.solver == "score" else sums

    def ratio(self, x: Any) -> Array:
        """Density ratio exp f(x) of data to reference, each normalised to its number of events.

        Parameters
        ----------
        x : array_like, mapping, data frame or Sample
            Events with the features of the fit, one a row, in their own units.

        Returns
        -------
        ndarray of shape (events,)
            The ratio at each event; 1 where both are equally dense.

        Raises
        ------
        InputError
            If the events lack a feature of the fit.
        """
        return np.exp(self.log_ratio(x))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz file of plain arrays (no pickle), whole or not at all.

        Parameters
        ----------
        path : path_like
            The file to write.
        """
        write_arrays(path, self.to_arrays())

    def to_arrays(self) -> dict[str, Any]:
        """Return what `save` writes.

        Returns
        -------
        dict
            Plain arrays by name.
        """
        meta = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in (*_ARRAYS, "scaling", "spectrum")}
        meta |= {"format": FORMAT, "scaling": self.scaling.to_dict()}
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        if self.spectrum is not None:
            arrays |= {"eigenvalues": self.spectrum.values, "means": self.spectrum.means}
        return {"metadata": np.array(json.dumps(meta))} | arrays

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, content: bytes | None = None) -> LearnedRatio:
        """Read what `save` wrote. Nothing in the file is executed.

        Parameters
        ----------
        path : path_like
            The file to read.
        content : bytes, optional
            What the file holds, where it was read already.

        Returns
        -------
        LearnedRatio
            The ratio as it was saved.

        Raises
        ------
        InputError
            If the file is damaged, or something else.
        FileNotFoundError
            If there is no such file.
        """
        try:
            arrays: dict[str, Any] = read_arrays(path) if content is None else arrays_from_bytes(content)
            meta = json.loads(str(arrays.pop("metadata")))
        except FileNotFoundError:
            raise
        except Exception as error:
            raise InputError(f"{path} is not a saved LearnedRatio: {error}") from error
        if not isinstance(meta, dict) or meta.pop("format", None) != FORMAT:
            raise InputError(f"{path} is not a saved LearnedRatio of this version ({FORMAT})")
        try:
            scaling = Scaling.from_dict(meta.pop("scaling"))
            meta["names"] = tuple(meta["names"])
            spectrum = Spectrum(arrays.pop("eigenvalues"), arrays.pop("means")) if "eigenvalues" in arrays else None
            ratio = cls(**meta, scaling=scaling, spectrum=spectrum, **arrays)
            columns = len(scaling.scaled_names)
            if ratio.centers.shape != (ratio.rank, columns) or ratio.coefficients.shape != (ratio.rank,):
                raise ValueError("centres and coefficients do not fit together")
            return ratio
        except (TypeError, KeyError, ValueError) as error:
            raise InputError(f"{path} is a damaged LearnedRatio: {error}") from error

    def __str__(self) -> str:
        return as_text("LearnedRatio", self._rows())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html("LearnedRatio", self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        steps = "to convergence" if self.newton_steps is None else f"{self.newton_steps} Newton step(s)"
        end = f"{steps}, {self.iterations} passes, decrement {self.decrement:.1e}"
        return [
            ("t", f"{self.statistic:.6g}"),
            ("converged", f"{'yes' if self.converged else 'NO'} ({end})"),
            (
                "samples",
                f"{self.reference_size} reference, {self.data_size} data, {self.expected:g} expected",
            ),
            ("features", ", ".join(self.names)),
            ("kernel", f"width {self.width:.4g}, {self.rank} centres, trace error {self.trace_error:.1e}"),
            (
                "fit",
                f"{self.loss} loss, penalty {self.penalty:g}, {self.solver} solver, scaling {self.scaling.rule}",
            ),
        ]
