"""A result in a folder: `result.json` for people and programs, `ratio.npz` for the learned ratio and the null."""

from __future__ import annotations

import io
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.files import write_atomically
from lanner.errors import InputError
from lanner.inference.null import Null
from lanner.inference.plan import Plan
from lanner.inference.sequential import Stopping
from lanner.inference.significance import Chi2Fit
from lanner.inference.tail import FittedTail
from lanner.inference.weighted_chi2 import WeightedChi2
from lanner.model.ratio import LearnedRatio
from lanner.run.result import SCHEMA, Combined, ScaleResult, SearchResult


def save_result(result: SearchResult, folder: str | Path) -> Path:
    """Write the result; returns the path of `result.json`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    result.ratio.save(folder / "ratio.npz")
    arrays = {
        "statistics": result.null.statistics,
        "converged": result.null.converged,
        "reference_draws": result.reference_draws,
    }
    if result.null.analytic is not None:
        arrays["analytic_weights"] = result.null.analytic.weights
    if result.null_coefficients is not None:
        arrays["null_coefficients"] = result.null_coefficients
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    write_atomically(folder / "null.npz", buffer.getvalue())
    return write_atomically(folder / "result.json", result.to_json())


def load_result(folder: str | Path) -> SearchResult:
    """Read what `save_result` wrote."""
    folder = Path(folder)
    path = folder / "result.json"
    if not path.exists():
        raise InputError(f"{folder} holds no result.json; give the output folder of `lanner search` or `lanner apply`")
    try:
        plain = json.loads(path.read_text())
        if plain["schema"] != SCHEMA:
            raise InputError(f"{path} is of another version ({plain['schema']}, not {SCHEMA})")
        with open(folder / "null.npz", "rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        null = plain["null"]
        chi2 = None
        if null["dof"] is not None:
            chi2 = Chi2Fit(null["dof"], null["dof_error"], null["goodness_of_fit"])
        return SearchResult(
            statistic=float(arrays["reference_draws"][0]),
            null=Null(
                null["kind"],
                arrays["statistics"],
                arrays["converged"],
                analytic=WeightedChi2(arrays["analytic_weights"]) if "analytic_weights" in arrays else None,
                chi2=chi2,
                tail=None if plain["tail"] is None else FittedTail(**_only(FittedTail, plain["tail"])),
            ),
            reference_draws=arrays["reference_draws"],
            ratio=LearnedRatio.load(folder / "ratio.npz"),
            plan=Plan.from_dict(plain["configuration"]),
            data_size=plain["samples"]["data"],
            reference_total=plain["samples"]["reference"],
            warnings=tuple(plain["warnings"]),
            null_coefficients=arrays.get("null_coefficients"),
            inputs=tuple(plain["inputs"].items()),
            digests=tuple(plain["samples"]["digests"].items()),
            stopping=None if null["stopping"] is None else Stopping(**null["stopping"]),
            combined=None if plain["combined"] is None else _combined(plain["combined"]),
            seconds=plain["seconds"],
        )
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{folder} holds a damaged result ({type(error).__name__}: {error}); run the search again"
        ) from error


def _combined(plain: dict[str, Any]) -> Combined:
    return Combined(**plain | {"scales": tuple(ScaleResult(**scale) for scale in plain["scales"])})


def _only(kind: Any, plain: dict[str, Any]) -> dict[str, Any]:
    """The entries that are fields of a dataclass."""
    return {f.name: plain[f.name] for f in fields(kind)}
