"""`LearnedRatio`: what a fit returns."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lanner._util.files import read_arrays, write_arrays
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

    `statistic` is t = 2 [sum_data f - a0 sum_reference (e^f - 1)] (Eq. t). `converged` says whether the problem
    that was asked for was solved: the minimum, or `newton_steps` Newton steps. `decrement` is the Newton
    decrement at the end, in units of the statistical error of f; t is accurate to 2 sqrt(t) times that.
    `trace_error` is the part of the kernel that the `rank` centres leave out, averaged over the candidates.
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
    centers: Array  # (rank, d), scaled
    coefficients: Array  # (rank,)
    spectrum: Spectrum | None  # of the features in the reference; Falkon knows none

    def log_ratio(self, x: Any) -> Array:
        """f(x) for any events: an array, a dictionary, a data frame or a `Sample`."""
        like = Sample(self.scaling.inverse(self.centers[:1]), self.names)
        events = match_columns(like, Sample.of(x, label="events"), labels=("fit", "events")).features
        return self.linked(
            kernel_sum(GaussianKernel(self.width), self.centers, self.coefficients, self.scaling.apply(events))
        )

    def linked(self, sums: Array) -> Array:
        """f from sums of kernels: the sums themselves, or, of a score's single step from f = 0, log(1 + sum).

        A step knows f to first order, where the log-ratio and the ratio less 1 are the same. Only the latter stays
        right for strong excesses: ten events where one is expected are a step of 9, and e^9 would be a ratio of 8000.
        """
        return np.log(np.maximum(1 + sums, _LEAST)) if self.solver == "score" else sums

    def ratio(self, x: Any) -> Array:
        """exp f(x), the density ratio of data to reference, each normalised to its number of events."""
        return np.exp(self.log_ratio(x))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz file of plain arrays (no pickle), whole or not at all."""
        meta = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in (*_ARRAYS, "scaling", "spectrum")}
        meta |= {"format": FORMAT, "scaling": self.scaling.to_dict()}
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        if self.spectrum is not None:
            arrays |= {"eigenvalues": self.spectrum.values, "means": self.spectrum.means}
        write_arrays(path, {"metadata": np.array(json.dumps(meta))} | arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LearnedRatio:
        """Read what `save` wrote. Nothing in the file is executed."""
        try:
            arrays: dict[str, Any] = dict(read_arrays(path))
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
            if ratio.centers.shape != (ratio.rank, len(ratio.names)) or ratio.coefficients.shape != (ratio.rank,):
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
