"""A result as plain JSON and as a folder: `result.json` to be read, `ratio.npz` and `null.npz` for the arrays."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.files import arrays_as_bytes, arrays_from_bytes, read_bytes
from lanner.errors import FolderError, InputError, StoreWarning
from lanner.inference.null import Null
from lanner.inference.plan import Plan, upgraded
from lanner.inference.sequential import Stopping
from lanner.inference.significance import Chi2Fit
from lanner.inference.tail import FittedTail
from lanner.inference.terms import OutOfReach
from lanner.inference.weighted_chi2 import WeightedChi2
from lanner.model.ratio import LearnedRatio
from lanner.run.blinded import refuse_blind
from lanner.run.fingerprint import versions
from lanner.run.manifest import FolderWriter, Manifest, read_together, written_together
from lanner.run.parts import Combined, Extrapolation, ScaleResult, Spread, TermResult
from lanner.run.result import SearchResult
from lanner.run.systematics import Systematics
from lanner.run.uncertain import Nuisance

FORMAT = "lanner.result/6"
EARLIER = ("lanner.result/5", "lanner.result/4")  # which are read too: their folders have no manifest
KIND = "result"
RESULT, NULL, RATIO, REPORT, CONFIG = "result.json", "null.npz", "ratio.npz", "report.html", "config.yaml"
UNCERTAINTIES = "uncertainties.npz"  # the reference at nu^, where there are uncertainties
_LISTED = 10_000  # toys in the JSON; a folder keeps all of them beside it
Plain = dict[str, Any]


def save_result(result: SearchResult, folder: str | Path) -> Path:
    """Write a result to a folder, from which `load_result` reads it.

    Parameters
    ----------
    result : SearchResult
        What `search` or `apply` returned.
    folder : str or Path
        Where to write `result.json`, `ratio.npz` and `null.npz`; made if it is not there.

    Returns
    -------
    Path
        Of `result.json`.

    Raises
    ------
    lanner.errors.FileError
        If a file cannot be written; an earlier one is then left as it was.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> result = lanner.search(reference, data, expected=200, toys=90, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lanner.save_result(result, folder).name
    'result.json'
    """
    with written_together(Path(folder), KIND) as files:
        return write_result(result, files)


def write_result(result: SearchResult, files: FolderWriter) -> Path:
    """Write the files of a result, beside others that belong to it; the path of `result.json`."""
    # The report of an earlier result must not stand beside this one, not even if this process dies now.
    files.remove(REPORT)
    files.remove(UNCERTAINTIES)
    analytic = result.null.analytic
    arrays = {
        "statistic": np.array(result.statistic),  # to the last bit
        "statistics": result.null.statistics,
        "converged": result.null.converged,
        "analytic_weights": None if analytic is None else analytic.weights,
        "null_coefficients": result.null_coefficients,
    }
    files.write(RATIO, arrays_as_bytes(result.ratio.to_arrays()))
    files.write(NULL, arrays_as_bytes({name: values for name, values in arrays.items() if values is not None}))
    if result.systematics.fitted is not None:
        files.write(UNCERTAINTIES, arrays_as_bytes(result.systematics.fitted.to_arrays()))
    return files.write(RESULT, result_to_json(result))


def load_result(folder: str | Path) -> SearchResult:
    """Read a result from the folder to which `save_result` or `lanner search` wrote it.

    Parameters
    ----------
    folder : str or Path
        The folder that holds `result.json`.

    Returns
    -------
    SearchResult
        The result as it was: its p-value, its null toys and its learned ratio.

    Raises
    ------
    lanner.errors.InputError
        If there is no result, if it is damaged, or if its format is older than the last one.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> result = lanner.search(reference, data, expected=200, toys=90, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = lanner.save_result(result, folder)
    ...     lanner.load_result(folder).p_value == result.p_value
    True
    """
    try:
        return _whole(Path(folder), _warn)
    except FolderError as error:
        again = "Run the same search again into this folder: the result is made anew from its toys"
        raise FolderError(f"{error}. {again}") from error


def harm_of(folder: Path) -> str | None:
    """What is wrong with the result in a folder, if anything is."""
    try:
        _whole(folder, lambda _: None)
    except InputError as error:
        return str(error)
    return None


def data_of(folder: Path) -> tuple[str | None, str]:
    """The digest and the description of the data whose result a folder holds, as far as that can be read."""
    try:
        plain = json.loads(read_bytes(folder / RESULT))
        return plain["samples"]["digests"]["data"], str(plain["inputs"].get("data", "unknown"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, "unknown"


def _whole(folder: Path, warn: Callable[[str], None]) -> SearchResult:
    return read_together(folder, lambda: _read_result(folder, warn))


def _read_result(folder: Path, warn: Callable[[str], None]) -> SearchResult:
    path, plain = folder / RESULT, {}
    if not path.exists():
        refuse_blind(folder)
        raise InputError(f"{folder} holds no {RESULT}; give the output folder of `lanner search` or `lanner apply`")
    try:
        plain = json.loads(read_bytes(path))
        earlier = plain["schema"] in EARLIER
        plain = _upgraded(plain, path)
        if earlier:
            warn(
                f"{folder} was written by an earlier version, which kept no manifest: whether its files belong "
                "together was checked by their numbers alone. Run the search again into this folder to have one"
            )
            content = {name: read_bytes(folder / name) for name in (NULL, RATIO)}
        else:
            content = _checked(folder, warn)
            plain = json.loads(content[RESULT])
        found = _result(plain, arrays_from_bytes(content[NULL]), LearnedRatio.load(RATIO, content=content[RATIO]))
        fitted = arrays_from_bytes(content[UNCERTAINTIES]) if UNCERTAINTIES in content else None
        found = replace(found, systematics=Systematics.from_dict(plain, fitted))
    except FolderError:
        raise
    except InputError as error:
        if plain.get("schema") in EARLIER:
            raise FolderError(f"{folder} holds a damaged result: {error}") from error
        raise
    except Exception as error:
        raise FolderError(
            f"{folder} holds a damaged result ({_harmed(folder)}{type(error).__name__}: {error})"
        ) from error
    if found.p_value != plain["p_value"] or _finite(found.statistic) != plain["statistic"]:
        raise FolderError(f"{path} and {folder / NULL} are of different results")
    return found


def _checked(folder: Path, warn: Callable[[str], None]) -> dict[str, bytes]:
    """What the files of a result hold, if they belong together."""
    manifest = Manifest.read(folder, KIND)
    further = [UNCERTAINTIES] if UNCERTAINTIES in manifest.files else []
    content = {name: manifest.content(name) for name in (RESULT, NULL, RATIO, *further)}
    for name, remedy in ((REPORT, "`lanner report` writes it again"), (CONFIG, "see that it names the right files")):
        if not manifest.fits(name):
            warn(f"{folder / name} is not the one of the result beside it: it was changed, lost or copied; {remedy}")
    return content


def _harmed(folder: Path) -> str:
    """The file that does not fit, where a manifest tells."""
    try:
        _checked(folder, lambda _: None)
    except FolderError as error:
        return f"{error}; "
    return ""


def _warn(text: str) -> None:
    warnings.warn(text, StoreWarning, stacklevel=7)


def result_to_json(result: SearchResult, indent: int | None = 1) -> str:
    """The result as JSON text."""
    return json.dumps(result_to_dict(result), indent=indent, allow_nan=False)


def result_to_dict(result: SearchResult) -> Plain:
    """Everything but the arrays of the fit, as `result.schema.json` describes it."""
    null, p, plan, ratio, tail = result.null, result.empirical, result.plan, result.ratio, result.null.tail
    chi2 = asdict(null.chi2) if null.chi2 is not None else dict.fromkeys(f.name for f in fields(Chi2Fit))
    plain = {
        "schema": FORMAT,
        "verdict": result.verdict(),
        "statistic": result.statistic,
        "p_value": p.p_value,
        "p_value_interval": p.interval,
        "p_value_is_bound": p.is_bound,
        "z_score": p.z_score,
        "z_score_interval": p.z_interval,
        "chi2": _law(result.chi2),
        "analytic": None
        if null.analytic is None
        else _law(result.analytic)
        | {"confirmed": null.analytic_confirmed, "mean": null.analytic.mean, "spread": null.analytic.std},
        "tail": None
        if tail is None
        else _extrapolated(result.tail) | asdict(tail) | {"trusted": tail.describes, "limit": tail.limit},
        "combined": None if result.combined is None else asdict(result.combined),
        "null": {
            "kind": null.kind,
            "toys": len(null),
            "exceedances": p.exceedances,
            "toys_counted": p.toys,
            "sequential": p.sequential,
            "stopping": None if result.stopping is None else asdict(result.stopping),
            **chi2,
            "not_finite": null.not_finite,
            "not_positive": null.not_positive,
            "not_converged": null.not_converged,
            "statistics": null.statistics[:_LISTED].tolist(),
        },
        "spread": None if result.spread is None else asdict(result.spread) | {"total": result.spread.total},
        "out_of_reach": None if result.out_of_reach is None else asdict(result.out_of_reach),
        "fit": {name: getattr(ratio, name) for name in ("converged", "iterations", "rank", "trace_error")},
        "samples": {
            "reference": result.reference_total,
            "data": result.data_size,
            "expected": plan.expected,
            "reference_per_fit": plan.reference_size,
            "digests": dict(result.digests),
        },
        "configuration": plan.to_dict(),
        "seed": plan.seed,
        "inputs": dict(result.inputs),
        "warnings": result.warnings,
        "versions": versions(),
        "numbers": dict(result.numbers),
        "seconds": result.seconds,
        "looks": result.looks,
        "left_out": dict(result.left_out),
        "unblinded": result.unblinded,
        "nuisances": [asdict(nuisance) for nuisance in result.nuisances],
        **result.systematics.to_dict(),
    }
    return {name: _finite(value) for name, value in plain.items()}


def _extrapolated(law: Extrapolation | None) -> Plain:
    return asdict(law) if law is not None else dict.fromkeys((f.name for f in fields(Extrapolation)), None)


def _law(law: Extrapolation | None) -> Any:
    return None if law is None else {"p_value": law.p_value, "z_score": law.z_score}


def _finite(value: Any) -> Any:
    """The value with None for NaN and infinity, which JSON lacks. (Z is minus infinity where every toy exceeds t)."""
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _upgraded(plain: Plain, path: Path) -> Plain:
    """What the file holds, in the names of this format."""
    if plain["schema"] in (FORMAT, EARLIER[0]):
        return plain
    if str(plain["schema"]).startswith("lanner.regions/"):
        raise InputError(f"{path} is of several regions: give the folder of one of them, in {path.parent / 'regions'}")
    if plain["schema"] not in EARLIER:
        raise InputError(
            f"{path} has the format {plain['schema']}, and this version reads {', '.join((FORMAT, *EARLIER))}: "
            "remake it by running the search again with the same settings"
        )
    return plain | {"configuration": upgraded(plain["configuration"]), "spread": None, "out_of_reach": None}


def _result(plain: Plain, arrays: dict[str, Any], ratio: LearnedRatio) -> SearchResult:
    null, samples, combined = plain["null"], plain["samples"], plain["combined"]
    if combined is not None:
        several: Plain = {"scales": tuple(ScaleResult(**scale) for scale in combined["scales"])}
        several["terms"] = tuple(TermResult(**term) for term in combined.get("terms", ()))
        combined = Combined(**combined | several)
    weights, spread, beyond = arrays.get("analytic_weights"), plain["spread"], plain["out_of_reach"]
    last = arrays.get("reference_draws")  # of the last format, whose first entry is the statistic
    return SearchResult(
        statistic=float(arrays["statistic"] if last is None else last[0]),
        null=Null(
            null["kind"],
            arrays["statistics"],
            arrays["converged"],
            analytic=None if weights is None else WeightedChi2(weights),
            chi2=None if null["dof"] is None else _made(Chi2Fit, null),
            tail=None if plain["tail"] is None else _made(FittedTail, plain["tail"]),
        ),
        ratio=ratio,
        plan=Plan.from_dict(plain["configuration"]),
        data_size=samples["data"],
        reference_total=samples["reference"],
        warnings=tuple(plain["warnings"]),
        null_coefficients=arrays.get("null_coefficients"),
        inputs=tuple(plain["inputs"].items()),
        digests=tuple(samples["digests"].items()),
        stopping=None if null["stopping"] is None else Stopping(**null["stopping"]),
        combined=combined,
        seconds=plain["seconds"],
        spread=None if spread is None else _made(Spread, spread),
        out_of_reach=None if beyond is None else OutOfReach(**beyond | {"rows": tuple(beyond["rows"])}),
        looks=tuple(plain.get("looks", ())),  # not in files of earlier versions
        nuisances=tuple(Nuisance(**one) for one in plain.get("nuisances", ())),
        numbers=tuple(plain.get("numbers", {}).items()),
        left_out=tuple(plain.get("left_out", {}).items()),
        unblinded=plain.get("unblinded"),
    )


def _made(kind: Any, plain: Plain) -> Any:
    """A dataclass from the entries that are its fields."""
    return kind(**{f.name: plain[f.name] for f in fields(kind)})
