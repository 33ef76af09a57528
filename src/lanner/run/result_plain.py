"""A result as plain JSON, which `result.schema.json` describes, and back."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from lanner.errors import InputError
from lanner.inference.null import Null
from lanner.inference.plan import Plan, upgraded
from lanner.inference.sequential import Stopping
from lanner.inference.significance import Chi2Fit
from lanner.inference.tail import FittedTail
from lanner.inference.terms import OutOfReach
from lanner.inference.weighted_chi2 import WeightedChi2
from lanner.model.ratio import LearnedRatio
from lanner.run.fingerprint import versions
from lanner.run.parts import Combined, Extrapolation, ScaleResult, Spread, TermResult
from lanner.run.result import SearchResult
from lanner.run.uncertain import Nuisance

FORMAT = "lanner.result/6"
EARLIER = ("lanner.result/5", "lanner.result/4")  # which are read too: their folders have no manifest
_LISTED = 10_000  # toys in the JSON; a folder keeps all of them beside it
Plain = dict[str, Any]


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
    return {name: finite(value) for name, value in plain.items()}


def _extrapolated(law: Extrapolation | None) -> Plain:
    return asdict(law) if law is not None else dict.fromkeys((f.name for f in fields(Extrapolation)), None)


def _law(law: Extrapolation | None) -> Any:
    return None if law is None else {"p_value": law.p_value, "z_score": law.z_score}


def finite(value: Any) -> Any:
    """The value with None for NaN and infinity, which JSON lacks. (Z is minus infinity where every toy exceeds t)."""
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def upgraded_result(plain: Plain, path: Path) -> Plain:
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


def result_of(plain: Plain, arrays: dict[str, Any], ratio: LearnedRatio) -> SearchResult:
    """Read what `result_to_dict` made, with the arrays that are kept beside it."""
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
